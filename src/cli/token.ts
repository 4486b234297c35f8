/** `sumi token`: makes, lists and revokes the tokens of the service, also while it runs. A token is printed once. */
import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import {
  type AccessTokens,
  createAccessTokens,
  type NewToken,
  type Token,
  type TokenScope,
} from '../answers/access-tokens.ts';
import { type Config, loadConfig } from '../config/load-config.ts';
import { sumiError } from '../errors.ts';
import { systemClock } from '../primitives/clock.ts';
import { type Column, layOutTable } from '../render/render-table.ts';
import { painterFor, printable } from '../render/terminal-text.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';
import { ANSWER_FORMATS, wantsJson } from './read-command.ts';
import { readLength } from './read-time.ts';

const EXAMPLES = `
Examples:
  sumi token create --name reports                          may read everything
  sumi token create --name shop --scope write --project "My shop" --expires 90d
  sumi token list
  sumi token revoke 0b6e2f3c-…                              by its id

Send it as \`Authorization: Bearer sumi_…\`. Only a hash of it is kept: it cannot be printed again.
From the first token on nobody is served without one, not even on this machine.
Scopes: read; write includes read; admin includes both, and makes tokens.`;

const ACTIONS = ['create', 'list', 'revoke'];
const SCOPES = ['read', 'write', 'admin'];

export async function openTokens({
  storeAddress,
}: Pick<Config, 'storeAddress'>): Promise<{ tokens: AccessTokens; close: () => Promise<void> }> {
  const { openRecords } = await import('../store/open-store.ts');
  const records = await openRecords(storeAddress, systemClock);
  const tokens = createAccessTokens({ records, clock: systemClock, random: randomBytes });
  return { tokens, close: () => records.close() };
}

interface TokenFlags {
  name?: string;
  scope?: string[];
  project?: string[];
  expires?: string;
}

const gather = (text: string, before: string[] | undefined) => [...(before ?? []), text];

export function tokenCommand(): Command {
  const command = new Command('token')
    .description('make, list or revoke tokens of the service')
    .argument('<action>', ACTIONS.join(', '))
    .argument('[id]', 'of the token to revoke')
    .option('--name <NAME>', 'what it is for (create)')
    .option('--scope <SCOPE>', `${SCOPES.join(', ')}; repeat it for more (default: read)`, gather)
    .option('--project <NAME>', 'only this project; repeat it for more (default: all)', gather)
    .option('--expires <TIME>', 'how long it works, such as 30d (default: until it is revoked)');
  addOptionFlags(command, ['db', 'store', 'config', 'format'], { formats: ANSWER_FORMATS });
  return command
    .addHelpText('after', EXAMPLES)
    .action(async (action: string, id: string | undefined, flags: TokenFlags) => {
      const { project: _, ...given } = flagsGiven(command);
      const config = await loadConfig({ env: process.env, flags: given });
      await act(config, action, id, flags);
    });
}

async function act(config: Config, action: string, id: string | undefined, flags: TokenFlags): Promise<void> {
  const isJson = wantsJson(config);
  const isWrong = !ACTIONS.includes(action) || (action === 'revoke') !== (id !== undefined);
  if (isWrong) {
    const reason = 'expected create, list, or revoke with the id of a token';
    throw sumiError('usage', { reason, command: 'sumi token' });
  }
  const asked = action === 'create' ? await readAsked(config, flags) : null;
  const { tokens, close } = await openTokens(config);
  try {
    if (asked !== null) print(await tokens.create(asked), isJson);
    else if (id !== undefined) await tokens.revoke(id);
    else printList(config, await tokens.list(), isJson);
  } finally {
    await close();
  }
}

async function readAsked(
  config: Config,
  { name, scope = ['read'], project, expires }: TokenFlags,
): Promise<NewToken> {
  const title = name?.trim() ?? '';
  if (title === '' || title.length > 200)
    throw sumiError('usage', {
      reason: 'a token needs a --name of 1 to 200 characters',
      command: 'sumi token',
    });
  const wrong = scope.find((word) => !SCOPES.includes(word));
  if (wrong !== undefined)
    throw sumiError('bad-flag', {
      flag: '--scope',
      value: wrong,
      expected: SCOPES.join(', '),
      command: 'sumi token',
    });
  const lasts =
    expires === undefined ? null : readLength(expires, { flag: '--expires', command: 'sumi token' });
  return {
    name: title,
    scopes: scope as TokenScope[],
    projects: project === undefined ? null : await findProjects(config, project),
    expiresAt: lasts === null ? null : systemClock.now() + lasts,
  };
}

/** By name or UUID. */
async function findProjects(
  { storeAddress, storeLabel }: Config,
  wanted: readonly string[],
): Promise<string[]> {
  const { openReadSide } = await import('../store/open-store.ts');
  const side = await openReadSide(storeAddress);
  try {
    const rows = await side.projects();
    return wanted.map((name) => {
      const found = rows.find(({ project, uid }) => project === name || uid === name.toLowerCase());
      if (found !== undefined) return found.uid;
      const known =
        rows.length === 0
          ? 'none'
          : rows
              .slice(0, 10)
              .map(({ project }) => project)
              .join(', ');
      throw sumiError('unknown-project', { project: name, file: storeLabel, known });
    });
  } finally {
    await side.close();
  }
}

/** The secret alone on standard output, so that a script can take it. */
function print({ token, secret }: { token: Token; secret: string }, isJson: boolean): void {
  process.stdout.write(isJson ? `${JSON.stringify({ ...shown(token), token: secret })}\n` : `${secret}\n`);
  if (!isJson)
    process.stderr.write(`token ${token.id} for ${printable(token.name)}: keep it, it is not shown again\n`);
}

function printList({ storeLabel }: Config, tokens: readonly Token[], isJson: boolean): void {
  const rows = tokens.map(shown);
  if (isJson) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
  else if (rows.length === 0) process.stdout.write(`There is no token in ${storeLabel}.\n`);
  else {
    const width = process.stdout.isTTY ? process.stdout.columns : null;
    const table = layOutTable(COLUMNS, rows, width, painterFor(process.stdout, process.env));
    process.stdout.write(`${[table.head, ...rows.map((row) => table.line(row))].join('\n')}\n`);
  }
}

type ShownToken = ReturnType<typeof shown>;

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());

function shown({ id, name, scopes, projects, createdAt, expiresAt, lastUsedAt }: Token) {
  return {
    ...{ id, name, scopes, projects, created_at: iso(createdAt) },
    ...{ expires_at: iso(expiresAt), last_used_at: iso(lastUsedAt) },
  };
}

const COLUMNS: readonly Column<ShownToken>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name, shrinksTo: 12 },
  { title: 'scopes', value: ({ scopes }) => scopes.join(', ') },
  { title: 'projects', value: ({ projects }) => projects?.length ?? 'all', align: 'right' },
  { title: 'expires', value: ({ expires_at }) => expires_at?.slice(0, 19) ?? 'never' },
  { title: 'last used', value: ({ last_used_at }) => last_used_at?.slice(0, 16) ?? 'never' },
];

/**
 * `sumi changes`: what the last run found changed, new and gone, or any other run, or all since one; with a URL the
 * whole history of a page.
 */
import { userInfo } from 'node:os';
import { Command } from 'commander';
import { SumiError, sumiError } from '../errors.ts';
import type { ChangeFormat } from '../export/change-pieces.ts';
import { tellChanges, tellHistory } from '../export/tellable-changes.ts';
import type { AskedLook, WhichRuns } from '../project/choose-runs.ts';
import { keepLook } from '../project/keep-look.ts';
import { listChanges, listPageHistory } from '../project/list-changes.ts';
import { printable } from '../render/terminal-text.ts';
import { addOptionFlags } from './options-to-flags.ts';
import { withReadSide } from './read-command.ts';
import { readMoment } from './read-time.ts';
import { addOutputFlags, isRunNumber, outputOf, readRunNumber, writeChanges } from './write-changes.ts';

const EXAMPLES = `
Examples:
  sumi changes                                  what the last run found; in a watched project: what changed since you last looked
  sumi changes --since 1d                              since a time; also --since 2026-02-03, --since 3 (after run 3)
  sumi changes --reader mail --out changes.html        since this reader last looked, whoever else did
  sumi changes https://example.com/prices              all visits of a page, and what each found
  sumi changes --format json | jq '.[] | .url'         one object a page; unchanged pages too with --all
  sumi changes --out changes.html                      a page to look at; .md for an issue, .csv for a table
How change is detected, and what the words mean: docs/changes.md.`;

interface ChangesFlags {
  run?: string;
  since?: string;
  reader?: string;
  all?: boolean;
  format?: ChangeFormat;
  out?: string;
  steps?: boolean;
  /** False with --no-mark. */
  mark: boolean;
}

/** What a reader has been told, to be kept once the store is closed for reading. */
interface SeenLook extends AskedLook {
  storeAddress: string;
  project: string;
}

export function changesCommand(): Command {
  const command = new Command('changes')
    .description('show what changed: new, changed and gone pages')
    .argument('[url]', 'a page, for its whole history');
  addOutputFlags(command)
    .option('--since <RUN|DATE>', 'all runs after this one, or all visits since a time: 1d, 2026-02-03')
    .option('--run <ID>', 'the number of a run (default: the last)')
    .option(
      '--reader <NAME>',
      'what changed since this reader last looked (default in a watched project: the user)',
    )
    .option('--no-mark', 'do not mark these changes as seen by the reader')
    .option('--steps', 'several runs: what each run found')
    .option('--all', 'also pages that did not change or could not be read')
    .option('--limit <N>', 'print at most so many rows (default: all)');
  addOptionFlags(command, ['db', 'store', 'config', 'project']);
  return command
    .addHelpText('after', EXAMPLES)
    .action(async (url: string | undefined, flags: ChangesFlags) => {
      let seen: SeenLook | null = null as SeenLook | null;
      await withReadSide(
        command,
        async (reading) => {
          const { config, limit } = reading;
          const output = outputOf(flags, config, command);
          const now = Date.now();
          const which = { ...whichRuns(flags, url !== undefined, now), limit, now };
          if (url !== undefined)
            return await writeChanges(tellHistory(await listPageHistory(reading, url, which)), output);
          const asked = { ...which, isWhole: flags.all === true, isByRun: flags.steps === true };
          const changes = await listChanges(reading, asked);
          await writeChanges(tellChanges(changes), output);
          const { look, project } = changes;
          if (look === null || !flags.mark) return;
          if (changes.isCut)
            tell(
              '--limit may have cut the list, so nothing is marked as seen: the next list begins where this one did.',
            );
          else seen = { ...look, storeAddress: config.storeAddress, project: project.project };
        },
        ['format'],
      );
      if (seen !== null) await keepSeen(seen);
    });
}

function whichRuns(flags: ChangesFlags, isOfPage: boolean, now: number): WhichRuns {
  const { run, since, reader } = flags;
  if (run !== undefined && since !== undefined)
    throw sumiError('usage', { reason: '--run and --since are both given', command: 'sumi changes' });
  refuseIdleReader(flags, isOfPage);
  if (run !== undefined) return { run: readRunNumber(run, 'sumi changes') };
  if (since !== undefined && isRunNumber(since)) return { afterRun: Number(since) };
  if (since !== undefined) {
    const where = { flag: '--since', command: 'sumi changes' };
    return { sinceMs: readMoment(since, where, now, 'the number of a run, ') };
  }
  return { reader, user: defaultReader() };
}

/** A look says itself since when: beside another time, and for the whole history of a page, it would say nothing. */
function refuseIdleReader({ run, since, reader }: ChangesFlags, isOfPage: boolean): void {
  if (reader === undefined) return;
  const other = run !== undefined ? '--run' : since !== undefined ? '--since' : isOfPage ? 'a URL' : null;
  if (other === null) return;
  const reason = `--reader and ${other} are both given; expected one of them (--reader tells all since that reader's last look)`;
  throw sumiError('usage', { reason, command: 'sumi changes' });
}

/** Whoever uses the machine; in some containers users have no name. */
function defaultReader(): string {
  try {
    return userInfo().username;
  } catch {
    return 'me';
  }
}

/** A database that does not answer is not waited for long: the list is printed already. */
const PATIENCE_S = 10;

/** That the look cannot be kept never costs the reader what was printed. */
async function keepSeen({ storeAddress, project, reader, next }: SeenLook): Promise<void> {
  try {
    await keepLook({ storeAddress, storePatience: PATIENCE_S }, project, { reader, next });
  } catch (error) {
    if (!(error instanceof SumiError)) throw error;
    tell(
      `This look of ${reader} could not be kept, so the next one begins where this one did: ${error.message}`,
    );
  }
}

function tell(note: string): void {
  process.stderr.write(`${printable(note)}\n`);
}

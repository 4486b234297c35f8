// Runs the examples of a page of docs/ one after another, in one folder: SQL in a session on web.duckdb, commands with the
// built program. Made-up hosts lead to the sites of docs-web.ts. A comment `a week later` changes the shop for its block;
// `today and next week` runs a command twice, with the change in between.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSql } from '../../src/sql/open-sql.ts';
import type { SqlSession } from '../../src/sql/sql-session.ts';
import { runStep } from '../readme/recipes.ts';
import { DOCS_HOSTS, serveDocsWeb } from './docs-web.ts';
import type { Example } from './examples-of.ts';

export interface ExampleRunner {
  /** What each part of the example prints: its script, or its commands one by one. */
  run(example: Example): Promise<string[]>;
  close(): Promise<void>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const HOOK = fileURLToPath(new URL('./made-up-web.cjs', import.meta.url));
/** Characters of a line of results. */
const WIDTH = 100;

export async function startExamples(): Promise<ExampleRunner> {
  const web = await serveDocsWeb();
  const top = mkdtempSync(join(tmpdir(), 'sumi-docs-'));
  const folder = join(top, 'work');
  mkdirSync(folder);
  mkdirSync(join(top, 'bin'));
  const program = join(top, 'bin/sumi');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' -r '${HOOK}' '${root}/dist/sumi.cjs' "$@"\n`);
  chmodSync(program, 0o755);
  const env: NodeJS.ProcessEnv = {
    PATH: `${join(top, 'bin')}:${process.env.PATH}`,
    HOME: top,
    MADE_UP_WEB: [web.port, ...DOCS_HOSTS].join(' '),
    // One request at a time: pages are found in the same order each time.
    SUMI_CONCURRENCY: '1',
    SUMI_DELAY: '0',
  };
  process.env.MADE_UP_WEB = env.MADE_UP_WEB;
  const { withoutPauses } = createRequire(import.meta.url)(HOOK) as { withoutPauses(sql: string): string };
  const before = process.cwd();
  process.chdir(folder);
  let session: SqlSession | null = null;

  async function closeSession(): Promise<void> {
    await session?.close();
    session = null;
  }

  async function runSql(script: string): Promise<string> {
    session ??= await openSql({ file: 'web.duckdb' });
    let text = '';
    const write = (piece: string) => {
      text += piece;
    };
    await session.run(withoutPauses(script), { format: 'table', width: WIDTH, output: { write } });
    return text;
  }

  async function runCommands({ text, steps }: Extract<Example, { kind: 'commands' }>): Promise<string[]> {
    await closeSession();
    const outputs: string[] = [];
    for (const { command } of steps) {
      if (text.includes('# today and next week')) {
        await runStep(command, folder, env);
        web.setWeek(2);
      }
      outputs.push(await runStep(`${command} || true`, folder, env));
    }
    return outputs;
  }

  return {
    async run(example) {
      web.setWeek(example.kind === 'sql' && example.script.includes('a week later') ? 2 : 1);
      return example.kind === 'sql' ? [await runSql(example.script)] : runCommands(example);
    },
    async close() {
      await closeSession();
      process.chdir(before);
      await web.close();
      rmSync(top, { recursive: true });
    },
  };
}

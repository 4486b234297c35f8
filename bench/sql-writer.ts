// Rows of a CRAWL into a DuckDB file, against DuckDB's defaults with the same Appender: rows a second, memory, and how
// long one batch may hold up everybody else. Each way has a process of its own.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { inTemporaryFolder, measureNode, REPOSITORY } from './run-sumi.ts';
import { atLeast, atMost, type Scenario, shown } from './scenario.ts';
import type { WrittenRows } from './sql-rows-driver.ts';

type Figures = WrittenRows & { maxRssMb: number; fileMb: number };

async function buildDriver(): Promise<string> {
  const outfile = join(REPOSITORY, 'node_modules', '.cache', 'sumi-bench', 'sql-rows-driver.mjs');
  await build({
    entryPoints: [join(REPOSITORY, 'bench', 'sql-rows-driver.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  });
  return outfile;
}

export const scenario: Scenario = {
  name: 'sql-writer',
  about: 'rows of 2 KB by batches of 100 into a DuckDB file, against its defaults',
  async run({ quick }) {
    const rows = quick ? 100_000 : 1_000_000;
    const driver = await buildDriver();
    const write = (way: string): Promise<Figures> =>
      inTemporaryFolder(async (folder) => {
        const file = join(folder, 'pages.db');
        const measured = await measureNode([driver, way, file, `${rows}`]);
        if (measured.exitCode !== 0) throw new Error(`${way} ended with ${measured.stderr}`);
        const { maxRssMb, stdout } = measured;
        return { ...(JSON.parse(stdout) as WrittenRows), maxRssMb, fileMb: statSync(file).size / 2 ** 20 };
      });
    const ours = await write('ours');
    const defaults = await write('defaults');
    return [
      shown('rows a second', ours.rowsPerSecond),
      shown('... by defaults', defaults.rowsPerSecond),
      atLeast('... ratio', ours.rowsPerSecond / defaults.rowsPerSecond, 2),
      shown('max RSS', ours.maxRssMb, 'MB'),
      shown('... by defaults', defaults.maxRssMb, 'MB'),
      atMost('... ratio', ours.maxRssMb / defaults.maxRssMb, 0.3),
      shown('longest batch', ours.longestFlushMs, 'ms'),
      shown('... by defaults', defaults.longestFlushMs, 'ms'),
      atMost('... ratio', ours.longestFlushMs / defaults.longestFlushMs, 0.1),
      shown('file', ours.fileMb, 'MB'),
      shown('... by defaults', defaults.fileMb, 'MB'),
    ];
  },
};

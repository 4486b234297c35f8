// The seen-set and the frontier driven alone to 10 million URLs, in a process of its own: what a new URL costs, what
// all of them take in memory, and how long a crawl of that size takes to be ready again.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Filled, Reopened } from './frontier-driver.ts';
import { inTemporaryFolder, type Measured, measureNode, REPOSITORY } from './run-sumi.ts';
import { atLeast, atMost, lessThan, type Scenario, shown } from './scenario.ts';

/** Bundled like the command itself: a loader of TypeScript in the process would count as its memory. */
async function buildDriver(): Promise<string> {
  const outfile = join(REPOSITORY, 'node_modules', '.cache', 'sumi-bench', 'frontier-driver.mjs');
  await build({
    entryPoints: [join(REPOSITORY, 'bench', 'frontier-driver.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    define: { __SUMI_VERSION__: '"bench"' },
    logLevel: 'error',
  });
  return outfile;
}

async function drive<T>(args: readonly string[]): Promise<{ result: T; measured: Measured }> {
  const measured = await measureNode(args);
  process.stderr.write(measured.stderr);
  if (measured.exitCode !== 0) throw new Error(`the frontier driver ended with ${measured.exitCode}`);
  return { result: JSON.parse(measured.stdout) as T, measured };
}

export const scenario: Scenario = {
  name: 'frontier',
  about: 'seen-set and frontier alone, 10 million URLs of 1,000 hosts',
  async run({ quick }) {
    const urls = quick ? 1_000_000 : 10_000_000;
    const driver = await buildDriver();
    return inTemporaryFolder(async (folder) => {
      const file = join(folder, 'frontier.db');
      const filled = await drive<Filled>([driver, 'fill', file, `${urls}`]);
      const reopened = await drive<Reopened>([driver, 'reopen', file]);
      const { result } = filled;
      return [
        atMost('CPU a new URL', result.newUs, 3, 'us'),
        shown('... over the last million', result.lastSegmentUs, 'us'),
        shown('... of that, making the candidate', result.makingUs, 'us'),
        shown('CPU a known URL', result.knownUs, 'us'),
        shown('CPU a claim, given back', result.claimUs, 'us'),
        atMost('max RSS', filled.measured.maxRssMb, 600, 'MB'),
        shown('file a URL', statSync(file).size / urls, 'bytes'),
        lessThan('reopened and ready', reopened.result.readyMs / 1000, 30, 's'),
        shown('max RSS of the reopened one', reopened.measured.maxRssMb, 'MB'),
        atLeast('URLs known after reopening', reopened.result.knownUrls, urls),
        atLeast('pages claimed after reopening', reopened.result.claimed, 1),
      ];
    });
  },
};

// The way to the shared harness that measures crawlers side by side (PEERS_DIR). It is not part of the repository:
// where it is absent the scenarios say so. Sets it up on demand, never forgets earlier results.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { plainEnvironment, REPOSITORY, SUMI } from './run-sumi.ts';

const PEERS_DIR = resolve(REPOSITORY, process.env.PEERS_DIR ?? '../shared/peers');
export const PEERS_HOME = process.env.PEERS_HOME ?? join(tmpdir(), 'peers');

export const whyNoPeers = (): string | undefined =>
  existsSync(join(PEERS_DIR, 'run.sh')) ? undefined : `${PEERS_DIR} is absent (set PEERS_DIR)`;

export function runPeers(
  script: string,
  args: readonly string[],
  settings: Record<string, string> = {},
): Promise<void> {
  return new Promise((done, reject) => {
    // The command itself: given the folder, the harness starts another Node only to read package.json.
    const env = { ...plainEnvironment(), PEERS_HOME, SUMI: `node ${SUMI}`, ...settings };
    // The table that the harness prints is ours to print: only its progress goes through.
    const child = spawn(join(PEERS_DIR, script), args, { env, stdio: ['ignore', 'ignore', 2] });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? done() : reject(new Error(`${script} ended with ${code}`))));
  });
}

/** Real pages, and the other crawlers. */
export async function prepareCorpora(names: readonly string[]): Promise<void> {
  if (!existsSync(join(PEERS_HOME, 'bin', 'go-standin'))) await runPeers('setup.sh', []);
  await layOutCorpora(names);
}

export async function layOutCorpora(names: readonly string[]): Promise<void> {
  // broad is cut out of large, which therefore comes first.
  const needed = names.includes('broad') ? ['large', ...names] : [...names];
  const missing = needed.filter((name) => !existsSync(join(PEERS_HOME, 'www', `${name}.start`)));
  if (missing.length > 0) await runPeers('corpus.sh', missing);
}

/** The result lines that were added to a results file while `work` ran. */
export async function newResults<T>(file: string, work: () => Promise<void>): Promise<T[]> {
  const path = join(PEERS_HOME, 'results', file);
  const lines = () => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []);
  const before = lines().length;
  await work();
  return lines()
    .slice(before)
    .map((line) => JSON.parse(line) as T);
}

// Runs the built command as a user would and measures the whole process from outside: CPU of all its threads, start-up
// included, largest resident size and wall time. Never measures itself or the server.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const REPOSITORY = resolve(import.meta.dirname, '..');
export const SUMI = join(REPOSITORY, 'dist', 'sumi.cjs');
const TIME = '/usr/bin/time';

export interface Measured {
  exitCode: number;
  wallMs: number;
  cpuMs: number;
  maxRssMb: number;
  stdout: string;
  stderr: string;
}

export async function inTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-bench-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The environment of a crawl: nothing of ours (SUMI_…, proxies) may change what is measured. With extra certificates
 * Node reads and checks some hundred of them at every start, before the program runs: 75 ms for a crawl without TLS.
 */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SUMI_|https?_proxy$|all_proxy$|NODE_OPTIONS$|NODE_EXTRA_CA_CERTS$)/i.test(name),
  );
  // Figures are of crawling by links, whatever a server would answer to a guess at its sitemaps.
  return { ...Object.fromEntries(kept), SUMI_DISCOVER: 'links' };
}

function run(
  command: string,
  args: readonly string[],
): Promise<Pick<Measured, 'exitCode' | 'stdout' | 'stderr'>> {
  return new Promise((done, reject) => {
    const child = spawn(command, args, { env: plainEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
    const parts: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
    child.stdout.on('data', (chunk: Buffer) => parts.stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => parts.stderr.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      const [stdout, stderr] = [parts.stdout, parts.stderr].map((chunks) => Buffer.concat(chunks).toString());
      done({ exitCode: code ?? -1, stdout, stderr });
    });
  });
}

/** Not measured: for reading results. Throws when the command ends with any other code. */
export async function readFromSumi(
  args: readonly string[],
  fineCodes: readonly number[] = [0],
): Promise<string> {
  const { exitCode, stdout, stderr } = await run(process.execPath, [SUMI, ...args]);
  if (!fineCodes.includes(exitCode)) {
    throw new Error(`sumi ${args.join(' ')} ended with ${exitCode}: ${stderr.trim()}`);
  }
  return stdout;
}

/** Any Node program, measured. */
export function measureNode(args: readonly string[]): Promise<Measured> {
  if (!existsSync(TIME)) throw new Error(`${TIME} (GNU time) is not installed`);
  return inTemporaryFolder(async (folder) => {
    const report = join(folder, 'time');
    const began = performance.now();
    const ended = await run(TIME, ['-f', '%U %S %M', '-o', report, process.execPath, ...args]);
    const wallMs = performance.now() - began;
    // A command that fails puts a line of its own before the figures.
    const [user, system, kilobytes] = readFileSync(report, 'utf8')
      .trim()
      .split('\n')
      .at(-1)!
      .split(' ')
      .map(Number);
    return { ...ended, wallMs, cpuMs: (user + system) * 1000, maxRssMb: kilobytes / 1024 };
  });
}

export async function measureSumi(args: readonly string[]): Promise<Measured> {
  const measured = await measureNode([SUMI, ...args]);
  if (measured.exitCode !== 0) {
    throw new Error(`sumi ${args.join(' ')} ended with ${measured.exitCode}: ${measured.stderr.trim()}`);
  }
  return measured;
}

// Runs the built command from outside, as a user does, in a folder of its own. Promises: no test sees the files of
// another, and a command that was never built is told from one that fails.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** CLI_UNDER_TEST names another build to be tried. */
export const COMMAND = resolve(process.env.CLI_UNDER_TEST ?? 'dist/sumi.js');

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  finished: Promise<Finished>;
  /** Resolves when standard error has said this. */
  said(text: string): Promise<void>;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
}

export function startSumi(args: readonly string[], options: RunOptions = {}): Running {
  if (!existsSync(COMMAND)) throw new Error(`${COMMAND} is not built: run \`npm test\` or \`npm run build\``);
  // Options of whoever runs the tests, and a proxy, would change what the command does.
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd: options.cwd,
    // Sitemaps are looked for where a test asks for it.
    env: { PATH, HOME, SUMI_DISCOVER: 'links', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const waiting: { text: string; resolve: () => void }[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const entry of waiting) if (stderr.includes(entry.text)) entry.resolve();
  });
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  return {
    child,
    finished: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    }),
    said: (text) =>
      new Promise((resolve) => {
        if (stderr.includes(text)) resolve();
        else waiting.push({ text, resolve });
      }),
  };
}

export function sumi(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return startSumi(args, options).finished;
}

export function makeFolder(): { path: string; file(name: string): string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'sumi-cli-'));
  return {
    path,
    file: (name) => join(path, name),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

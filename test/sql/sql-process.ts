// `sumi`, and mostly `sumi sql`, in a process of its own, from the sources: for kills, signals and exit codes.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../../src/cli/sumi.ts', import.meta.url));

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface SqlProcess {
  child: ChildProcess;
  ended: Promise<Ended>;
}

export const startSqlProcess = (args: readonly string[], input = '') => startProcess(['sql', ...args], input);

export function startProcess(args: readonly string[], input = ''): SqlProcess {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', COMMAND, ...args], {
    // Options of whoever runs the tests, and a proxy, would change what the command does.
    env: { PATH, HOME },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return {
    child,
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    }),
  };
}

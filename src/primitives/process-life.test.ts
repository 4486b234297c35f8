import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isAlive } from './process-life.ts';

/** Only a kernel that tells of its processes can be asked. */
const hasProc = existsSync('/proc/self/stat');
const turn = () => new Promise((resolve) => setImmediate(resolve));
const nameOf = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8');

describe('a process', () => {
  it('lives until it has ended', async () => {
    const child = spawn('sleep', ['60']);
    expect([isAlive(process.pid), isAlive(child.pid!)]).toEqual([true, true]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isAlive(child.pid!)).toBe(false);
  });

  it('is dead when it was killed, though its parent has not asked for it', async () => {
    if (!hasProc) return expect(isAlive(process.pid)).toBe(true);
    // The shell becomes another program, which never asks for the child that the shell had.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60']);
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(line.toString());
      expect(isAlive(pid)).toBe(true);
      while (!nameOf(parent.pid!).startsWith('sleep')) await turn();
      process.kill(pid, 'SIGKILL');
      while (isAlive(pid)) await turn();
      expect(existsSync(`/proc/${pid}/stat`)).toBe(true);
    } finally {
      parent.kill('SIGKILL');
    }
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { processMark } from './workers.ts';

/** Only a kernel that tells of its processes can be asked. */
const hasProc = existsSync('/proc/self/stat');

describe('the mark of a process', () => {
  it('is its own while it lives', () => {
    const mark = processMark('self');
    expect(mark === null).toBe(!hasProc);
    expect(processMark(process.pid)).toBe(mark);
  });

  it('is none of one that was killed, though its parent has not asked for it', async () => {
    if (!hasProc) return expect(processMark('self')).toBeNull();
    // The shell becomes another program, which never asks for the child that the shell had.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60']);
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(line.toString());
      expect(processMark(pid)).not.toBeNull();
      // The shell itself would ask.
      while (!nameOf(parent.pid!).startsWith('sleep')) await turn();
      process.kill(pid, 'SIGKILL');
      while (processMark(pid) !== null) await turn();
      expect(existsSync(`/proc/${pid}/stat`)).toBe(true);
    } finally {
      parent.kill('SIGKILL');
    }
  });
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

function nameOf(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, 'utf8');
}

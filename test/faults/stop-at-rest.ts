// SIGSTOP, where a judge may blame the program for what it does afterwards. Between its last look at the clock and the
// write there are some microseconds in which no program can know that it was stopped (decision 0016): a process that
// was caught at work is let go on, and stopped again, until it is caught waiting in the kernel for something to happen.
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** The numbers of epoll_wait and epoll_pwait, as /proc gives them. */
const WAITS: Partial<Record<NodeJS.Architecture, readonly string[]>> = { x64: ['232', '281'], arm64: ['22'] };

export async function stopAtRest(child: ChildProcess): Promise<void> {
  const waits = WAITS[process.arch];
  if (waits === undefined) throw new Error(`the system calls of ${process.arch} are not known here`);
  for (;;) {
    child.kill('SIGSTOP');
    while (!isStopped(child.pid!)) await pause(1);
    const [call] = readFileSync(`/proc/${child.pid}/syscall`, 'utf8').split(' ');
    if (waits.includes(call)) return;
    child.kill('SIGCONT');
    await pause(1);
  }
}

const isStopped = (pid: number) => /^State:\tT/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

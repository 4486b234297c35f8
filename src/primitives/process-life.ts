/** Whether a process of this machine is alive, and when it began, as far as the kernel says. */
import { readFileSync } from 'node:fs';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // The process belongs to another user, so it is alive.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return readProcess(pid)?.isDead !== true;
}

/** Null if the kernel does not say, or knows no process with this number. */
export function readProcess(pid: number | 'self'): { isDead: boolean; startedAt: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in brackets and may contain spaces. The start is the 20th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // The process is dead, and its parent has not collected it yet; the first process of a container may never do that.
    return { isDead: fields[0] === 'Z' || fields[0] === 'X', startedAt: fields[19] };
  } catch {
    return null;
  }
}

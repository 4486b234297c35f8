/** Whether a process of this machine lives, and when it began, as far as the kernel tells. */
import { readFileSync } from 'node:fs';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return readProcess(pid)?.isDead !== true;
}

/** Null where the kernel does not tell, or knows none of that number. */
export function readProcess(pid: number | 'self'): { isDead: boolean; startedAt: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, which stands in brackets, may hold spaces; the start is the 20th field behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Dead, and its parent has not asked for it yet: one that never asks may be the first process of a container.
    return { isDead: fields[0] === 'Z' || fields[0] === 'X', startedAt: fields[19] };
  } catch {
    return null;
  }
}

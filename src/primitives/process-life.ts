/** Whether a process of this machine lives, by its number. */
import { readFileSync } from 'node:fs';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !isUnburied(pid);
}

/** Dead, and its parent has not asked for it yet: one that never asks may be the first process of a container. */
function isUnburied(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, which stands in brackets, may hold spaces.
    const state = stat[stat.lastIndexOf(')') + 2];
    return state === 'Z' || state === 'X';
  } catch {
    // This kernel does not tell.
    return false;
  }
}

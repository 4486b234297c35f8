/**
 * One DuckDB a file in this process. DuckDB itself only keeps other processes out: a second instance here would open the
 * file and lose rows silently, and whoever closes another handle on it gives up the first one's lock. A file that is open
 * already is found by its descriptors, whatever thread, library or spelling of its name opened it; the files that are
 * being opened are remembered. Nothing here opens the file.
 */
import { fstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { sumiError } from '../../errors.ts';

/** Of this thread. The process has one lock a file, so that this is one table a process by nature. */
const claimed = new Set<string>();

/** Throws `sql-file-open`; gives back what ends the claim. */
export function claimFile(file: string): () => void {
  const name = realName(resolve(file));
  if (claimed.has(name) || isOpenHere(name)) throw sumiError('sql-file-open', { file });
  claimed.add(name);
  return () => claimed.delete(name);
}

/** Through all links; a file that does not exist yet has only its folder's real name. */
function realName(path: string): string {
  for (const [known, rest] of [
    [path, ''],
    [dirname(path), basename(path)],
  ]) {
    try {
      return join(realpathSync(known), rest);
    } catch {
      // Not there yet.
    }
  }
  return path;
}

/** Windows has no such folder; there DuckDB itself refuses a second handle. */
const DESCRIPTOR_FOLDERS = ['/proc/self/fd', '/dev/fd'];

function isOpenHere(path: string): boolean {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (file === undefined) return false;
  return openDescriptors().some((descriptor) => {
    try {
      const { dev, ino } = fstatSync(descriptor, { bigint: true });
      return dev === file.dev && ino === file.ino;
    } catch {
      // Closed since the folder was read.
      return false;
    }
  });
}

function openDescriptors(): number[] {
  for (const folder of DESCRIPTOR_FOLDERS) {
    try {
      return readdirSync(folder).map(Number);
    } catch {
      // Another system.
    }
  }
  return [];
}

/** Bodies in a folder: <first two hex digits>/<hash>.gz, written under another name first and then renamed. */
import { accessSync, constants, existsSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sumiError } from '../../errors.ts';
import type { BodyStore } from '../bodies.ts';

export function openFileBodies(folder: string): BodyStore {
  try {
    makeFolder(resolve(folder));
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw sumiError('bodies-unwritable', { folder, reason: (error as Error).message }, error);
  }
  const pathOf = (key: string) => join(folder, key.slice(0, 2), `${key}.gz`);
  return {
    put(hash, bytes) {
      const key = Buffer.from(hash).toString('hex');
      const path = pathOf(key);
      if (existsSync(path)) return key;
      try {
        makeFolder(resolve(folder, key.slice(0, 2)));
        const unfinished = `${path}.${process.pid}`;
        writeFileSync(unfinished, gzipSync(bytes));
        renameSync(unfinished, path);
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        if (code === 'ENOSPC') throw sumiError('disk-full', { file: path }, error);
        throw sumiError('bodies-unwritable', { folder, reason: message }, error);
      }
      return key;
    },
    async get(key) {
      const path = pathOf(key);
      return existsSync(path) ? gunzipSync(await readFile(path)) : null;
    },
    async close() {},
  };
}

/** Node's own `recursive` never comes back where a folder exists but takes no entries, as /proc. */
function makeFolder(path: string): void {
  if (isFolder(path)) return;
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

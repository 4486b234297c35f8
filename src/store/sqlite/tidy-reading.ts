/**
 * Reading that leaves no trace. SQLite makes two files, -wal and -shm, beside a file in WAL mode for as long as somebody has
 * it open; only a connection that may write takes them away again. So a reader, once it has closed the file, opens and
 * closes it once more that way, where the log is empty: SQLite itself sees to it that nothing is taken from others who
 * have the file open, and a log with something in it (of a crawl under way, or one that was killed) is left to them.
 *
 * Where this user may not write, into the folder or into the file, there can be no such files: a file that has none is read
 * from a copy.
 */
import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { sumiError } from '../../errors.ts';
import Sqlite, { nativeBinding } from './driver.ts';

export function tidiedAfterwards(db: Database, path: string): Database {
  return closingWith(db, () => tidy(path));
}

/**
 * This user may not write into the folder, so that SQLite could not open the file in its place; or not into the file, so
 * that what SQLite makes beside it could not be taken away again, and would be in the way of the file's owner.
 */
export function isShut(path: string): boolean {
  // With its index there, readers need not write; who has it open is at work on the file.
  return !(mayWrite(dirname(resolve(path))) && mayWrite(path)) && !existsSync(`${path}-shm`);
}

/** From a copy in the folder for temporary files, its log with it, which is removed with the connection. */
export function openInShutFolder(path: string, open: (copy: string) => Database): Database {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-read-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const copy = join(folder, basename(path));
  try {
    for (const end of ['', '-wal'])
      if (existsSync(path + end)) copyFileSync(path + end, copy + end, constants.COPYFILE_FICLONE);
    return closingWith(open(copy), remove);
  } catch (error) {
    remove();
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== 'copyfile') throw error;
    const reason = `nothing can be made in its folder, and a copy cannot be made either: ${message}`;
    throw sumiError('db-unreadable', { file: path, reason }, error);
  }
}

/** Of connections that are open: a process may end without closing them, such as one whose reader went away. */
const ends = new Set<() => void>();

function endAll(): void {
  for (const end of ends) {
    try {
      end();
    } catch (error) {
      // The rows of a statement are still being read: the file is closed with the process, and a later reader tidies up.
      if (!(error instanceof TypeError)) throw error;
    }
  }
}

/** `afterwards` follows the first close, or the end of the process. */
function closingWith(db: Database, afterwards: () => void): Database {
  const close = db.close.bind(db);
  const end = () => {
    ends.delete(end);
    if (ends.size === 0) process.off('exit', endAll);
    if (!db.open) return;
    close();
    afterwards();
  };
  if (ends.size === 0) process.on('exit', endAll);
  ends.add(end);
  db.close = () => {
    end();
    return db;
  };
  return db;
}

function tidy(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size > 0 || !mayWrite(path)) return;
  const db = new Sqlite(path, { timeout: 0, fileMustExist: true, nativeBinding });
  try {
    // The file is opened with the first question only.
    db.prepare('SELECT 1 FROM sqlite_schema').get();
  } catch (error) {
    // Somebody has it: then it is for him to tidy up.
    if (!(error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY'))) throw error;
  } finally {
    db.close();
  }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Writes files whole or not at all: each is written beside its place and put there at the end, all of them together.
 * Whatever goes wrong, and when the process exits meanwhile, what stood there before still does and nothing is left over.
 * A device or a pipe is written to as it is.
 */
import { constants, existsSync, rmSync } from 'node:fs';
import { access, type FileHandle, open, realpath, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sumiError } from '../errors.ts';
import type { Pieces } from './write-pieces.ts';

export interface OutputFile {
  readonly path: string;
  readonly pieces: Pieces;
}

interface Place {
  /** Where it is written first. */
  readonly writtenAt: string;
  readonly end: string;
}

export async function writeFiles(files: readonly OutputFile[]): Promise<void> {
  const places: Place[] = [];
  const cleanUp = () => {
    for (const { writtenAt, end } of places) if (writtenAt !== end) rmSync(writtenAt, { force: true });
  };
  process.once('exit', cleanUp);
  try {
    for (const { path } of files) places.push(await placeFor(path));
    // A file that cannot be made is better known before the first is written.
    const handles: FileHandle[] = [];
    try {
      for (const [i, { writtenAt, end }] of places.entries()) {
        const flags = writtenAt === end ? 'w' : 'wx';
        handles.push(await explained(files[i].path, () => open(writtenAt, flags)));
      }
      for (const [i, file] of files.entries()) await fill(handles[i], file);
    } finally {
      for (const handle of handles) await handle.close();
    }
    for (const [i, { writtenAt, end }] of places.entries()) {
      if (writtenAt !== end) await explained(files[i].path, () => rename(writtenAt, end));
    }
  } finally {
    cleanUp();
    process.off('exit', cleanUp);
  }
}

/** Through a link to where it leads, so that the link stays one. */
async function placeFor(path: string): Promise<Place> {
  let end = path;
  let isFile = true;
  try {
    end = await realpath(path);
    const found = await stat(end);
    if (found.isDirectory()) throw unwritable(path, 'it is a directory');
    // SQLite's own file beside it: somebody has it open, most likely this command itself.
    if (existsSync(`${end}-shm`)) throw unwritable(path, 'it is a database in use');
    isFile = found.isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw explain(path, error);
  }
  return { end, writtenAt: isFile ? `${end}.${process.pid}.tmp` : end };
}

async function fill(handle: FileHandle, { path, pieces }: OutputFile): Promise<void> {
  for await (const piece of pieces) {
    // writeFile goes on until all is written, where write may stop halfway.
    if (piece.length > 0) await explained(path, () => handle.writeFile(piece));
  }
}

async function explained<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw explain(path, error);
  }
}

const REASONS: Record<string, string> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder is no directory',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
};

function explain(path: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined || error instanceof TypeError
    ? error
    : unwritable(path, REASONS[code] ?? message, error);
}

function unwritable(file: string, reason: string, cause?: unknown): Error {
  return sumiError('export-unwritable', { file, reason }, cause);
}

/** Null where the file can be written, as far as can be said before it is. */
export async function whyUnwritable(file: string): Promise<string | null> {
  const folder = await stat(dirname(file)).catch(() => null);
  if (folder === null) return REASONS.ENOENT;
  if (!folder.isDirectory()) return REASONS.ENOTDIR;
  const found = await stat(file).catch(() => null);
  if (found?.isDirectory()) return 'it is a directory';
  // A device or a pipe is written to as it is; a file is replaced, which is its folder's matter.
  const target = found === null || found.isFile() ? dirname(file) : file;
  const mayWrite = await access(target, constants.W_OK).then(
    () => true,
    () => false,
  );
  return mayWrite ? null : REASONS.EACCES;
}

/** What is made at once, as pieces. */
export async function* oneOf(text: string): AsyncGenerator<string> {
  yield text;
}

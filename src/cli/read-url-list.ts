/** The URLs of --urls: one a line, from a file or standard input; empty lines and lines that begin with # do not count. */
// Not from node:fs/promises, which every start would load, with or without a file.
import { promises as files } from 'node:fs';
import { text } from 'node:stream/consumers';
import { sumiError } from '../errors.ts';

export async function readUrlList(file: string): Promise<string[]> {
  let content: string;
  try {
    content = file === '-' ? await text(process.stdin) : await files.readFile(file, 'utf8');
  } catch (error) {
    throw sumiError('urls-unreadable', { file, reason: (error as Error).message }, error);
  }
  return content
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** Reads a configuration file as a TOML table, or says why not. The parser is loaded only when there is a file. */

// Not from node:fs/promises, which every start would load, with or without a file.
import { promises as files } from 'node:fs';
import { sumiError } from '../errors.ts';

export type TomlTable = Record<string, unknown>;

export async function readToml(file: string): Promise<TomlTable> {
  return (await readTomlText(file)).table;
}

/** With the text itself, for those who tell on which line something stands. */
export async function readTomlText(file: string): Promise<{ text: string; table: TomlTable }> {
  const text = decode(file, await readBytes(file));
  return { text, table: await parseToml(file, text) };
}

async function parseToml(file: string, text: string): Promise<TomlTable> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The parser's message goes on with a picture of the lines, where a password may stand: only what is wrong is told, and
    // the parser's error is no cause of ours.
    const reason = error.message.split('\n', 1)[0].replace(/^Invalid TOML document: /, '');
    throw sumiError('config-syntax', { file, line: error.line, column: error.column, reason });
  }
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await files.readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw sumiError('config-missing', { file }, error);
    const reason =
      code === 'EISDIR' ? 'it is a directory' : code === 'EACCES' ? 'permission denied' : message;
    throw sumiError('config-unreadable', { file, reason }, error);
  }
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw sumiError('config-unreadable', { file, reason: 'it is not UTF-8 text' }, error);
  }
}

/**
 * The key that encrypts what must not be read in the records: URLs and secrets of webhooks. It is a file of its own beside
 * the store, for its owner alone, so that a copy or a backup of the records gives nothing away.
 *
 * Promises: the file appears whole or not at all, also when two processes make it at once; one that others can read, or
 * that is broken, is refused and never overwritten. What is sealed can be opened only for the purpose it was sealed for.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { link, open, readFile, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sumiError } from '../../errors.ts';

export interface SealKey {
  /** `purpose` is needed to open it again; it is not kept in what is sealed. */
  seal(text: string, purpose: string): string;
  /** Null for what was sealed with another key or for another purpose, or was changed since. */
  open(sealed: string, purpose: string): string | null;
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 'a256gcm.';
const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** Null where there is no such file. */
export async function readKeyFile(file: string): Promise<SealKey | null> {
  let text: string;
  try {
    const found = await stat(file);
    if (!found.isFile()) throw broken(file, 'it is no file');
    if ((found.mode & OTHERS) !== 0)
      throw sumiError('key-file-open', { file, mode: (found.mode & 0o777).toString(8).padStart(3, '0') });
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw error instanceof Error && 'syscall' in error ? broken(file, message, error) : error;
  }
  if (!/^[0-9a-f]{64}\n?$/.test(text)) throw broken(file, 'expected 64 hexadecimal digits');
  return sealKey(Buffer.from(text.trim(), 'hex'));
}

/** The key of the file, which is made where there is none. */
export async function openKeyFile(file: string): Promise<SealKey> {
  const known = await readKeyFile(file);
  if (known !== null) return known;
  await makeKeyFile(file);
  return (await readKeyFile(file))!;
}

const broken = (file: string, reason: string, cause?: unknown) =>
  sumiError('key-file-broken', { file, reason }, cause);

/** Written beside it, and given its name when it is whole: whoever was first wins. */
async function makeKeyFile(file: string): Promise<void> {
  const draft = `${file}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(draft, 'wx', OWNER_ONLY);
    try {
      await handle.writeFile(`${randomBytes(KEY_BYTES).toString('hex')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await link(draft, file);
    const folder = await open(dirname(file), 'r');
    // What is sealed may be on the disk before the name of the key is.
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw broken(file, `it cannot be made: ${message}`, error);
  } finally {
    await unlink(draft).catch(() => {});
  }
}

function sealKey(key: Buffer): SealKey {
  return {
    seal(text, purpose) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(purpose, 'utf8'));
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return FORMAT + sealed.toString('base64url');
    },
    open(sealed, purpose) {
      if (!sealed.startsWith(FORMAT)) return null;
      const bytes = Buffer.from(sealed.slice(FORMAT.length), 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(purpose, 'utf8')).setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch {
        return null;
      }
    },
  };
}

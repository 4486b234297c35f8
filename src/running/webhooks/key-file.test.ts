import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openKeyFile, readKeyFile } from './key-file.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-key-'));
  folders.push(folder);
  return join(folder, 'sumi.db.key');
}

describe('a key file', () => {
  it('is made for its owner alone, whole, and once, however many make it', async () => {
    const file = newFile();
    expect(await readKeyFile(file)).toBeNull();
    const keys = await Promise.all(Array.from({ length: 20 }, () => openKeyFile(file)));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
    const sealed = keys[0].seal('secret', 'a');
    expect(keys.map((key) => key.open(sealed, 'a'))).toEqual(Array(20).fill('secret'));
    expect(readdirSync(join(file, '..'))).toEqual(['sumi.db.key']);
  });

  it.each([0o640, 0o604, 0o660, 0o644])(
    'is refused with mode %o, which lets others read it',
    async (mode) => {
      const file = newFile();
      await openKeyFile(file);
      chmodSync(file, mode);
      await expect(openKeyFile(file)).rejects.toMatchObject({ code: 'key-file-open' });
    },
  );

  it.each(['', 'abc', `${'0'.repeat(63)}\n`, `${'0'.repeat(64)}\n\n`, 'x'.repeat(64)])(
    'is refused where it is broken, and stays as it is: %j',
    async (text) => {
      const file = newFile();
      writeFileSync(file, text, { mode: 0o600 });
      await expect(openKeyFile(file)).rejects.toMatchObject({ code: 'key-file-broken' });
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );

  it('is refused where there is a folder, or none to make it in', async () => {
    const file = newFile();
    await expect(openKeyFile(join(file, '..'))).rejects.toMatchObject({ code: 'key-file-broken' });
    await expect(openKeyFile(join(file, 'nowhere'))).rejects.toMatchObject({ code: 'key-file-broken' });
  });
});

describe('what is sealed', () => {
  it('opens with its key and for its purpose only, and not when a bit of it changed', async () => {
    const [key, other] = [await openKeyFile(newFile()), await openKeyFile(newFile())];
    const sealed = key.seal('https://hooks.test/päth', 'webhook 1');
    expect(sealed).not.toContain('hooks');
    expect(key.open(sealed, 'webhook 1')).toBe('https://hooks.test/päth');
    expect(key.open(sealed, 'webhook 2')).toBeNull();
    expect(other.open(sealed, 'webhook 1')).toBeNull();
    expect(key.seal('x', 'a')).not.toBe(key.seal('x', 'a'));
    const bytes = Buffer.from(sealed.slice(8), 'base64url');
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] ^= 1;
      expect(key.open(`a256gcm.${changed.toString('base64url')}`, 'webhook 1')).toBeNull();
    }
    expect([key.open('', 'a'), key.open('a256gcm.', 'a'), key.open('v2.x', 'a')]).toEqual([null, null, null]);
  });
});

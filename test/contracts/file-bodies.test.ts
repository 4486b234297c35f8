/** The body contract on a folder of files, and what only files can get wrong. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFileBodies } from '../../src/store/files/file-bodies.ts';
import { openBodies } from '../../src/store/open-store.ts';
import { type BodyHarness, describeBodies } from './body-store-contract.ts';

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

async function startFiles(): Promise<BodyHarness> {
  const root = mkdtempSync(join(tmpdir(), 'sumi-bodies-'));
  const folder = join(root, 'made', 'on', 'demand');
  return {
    open: async () => openFileBodies(folder),
    count: async () => filesIn(folder).length,
    size: async () => filesIn(folder).reduce((sum, file) => sum + statSync(file).size, 0),
    cleanUp: async () => rmSync(root, { recursive: true }),
  };
}

describeBodies('files', startFiles);

describe('a folder of bodies', () => {
  it('is refused when it cannot be one', () => {
    const root = mkdtempSync(join(tmpdir(), 'sumi-bodies-'));
    writeFileSync(join(root, 'file'), '');
    expect(() => openFileBodies(join(root, 'file'))).toThrow(
      expect.objectContaining({ code: 'bodies-unwritable' }),
    );
    rmSync(root, { recursive: true });
  });

  // As a process of its own: what this guards against is a call that never comes back.
  it.runIf(existsSync('/proc/self'))('is refused at once below a folder that takes no entries', () => {
    const script = `import { openFileBodies } from ${JSON.stringify(join(import.meta.dirname, '../../src/store/files/file-bodies.ts'))};
      try { openFileBodies('/proc/sumi-bodies/deep'); } catch (error) { console.log(error.code); }`;
    const { stdout } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--input-type', 'module', '--eval', script],
      {
        encoding: 'utf8',
        timeout: 10_000,
      },
    );
    expect(stdout.trim()).toBe('bodies-unwritable');
  });

  it('says so when it cannot be written to any more', () => {
    const root = mkdtempSync(join(tmpdir(), 'sumi-bodies-'));
    const bodies = openFileBodies(root);
    writeFileSync(join(root, 'ab'), 'in the way of the folder of that name');
    const hash = Buffer.alloc(32, 0xab);
    expect(() => bodies.put(hash, Buffer.from('x'), null)).toThrow(
      expect.objectContaining({ code: 'bodies-unwritable' }),
    );
    rmSync(root, { recursive: true });
  });

  it('takes a half-written body of a killed process for none', async () => {
    const root = mkdtempSync(join(tmpdir(), 'sumi-bodies-'));
    const key = Buffer.alloc(32, 0xcd).toString('hex');
    mkdirSync(join(root, 'cd'));
    writeFileSync(join(root, 'cd', `${key}.gz.4711`), 'half');
    const bodies = openFileBodies(root);
    expect(await bodies.get(key)).toBeNull();
    await bodies.put(Buffer.alloc(32, 0xcd), Buffer.from('whole'), null);
    expect(Buffer.from((await bodies.get(key))!).toString()).toBe('whole');
    rmSync(root, { recursive: true });
  });

  it('is opened by its address, and "none" opens nothing', async () => {
    const root = mkdtempSync(join(tmpdir(), 'sumi-bodies-'));
    const bodies = await openBodies(`files:${join(root, 'b')}`);
    expect(await bodies?.get('0'.repeat(64))).toBeNull();
    expect(await openBodies('none')).toBeNull();
    rmSync(root, { recursive: true });
  });
});

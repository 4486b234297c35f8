import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const DIST = resolve('dist');
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** Starts the command in a process of its own and tells what V8 said to the cache. */
function startWith(dist: string, flags: string[] = []): string {
  const watch = `const vm = require('node:vm');
    vm.Script = class extends vm.Script { constructor(...args) { super(...args); console.log(this.cachedDataRejected); } };
    process.argv = [process.execPath, 'sumi', '--version'];
    require(${JSON.stringify(join(dist, 'sumi.cjs'))});`;
  const env = { ...process.env, NODE_OPTIONS: '' };
  return execFileSync(process.execPath, [...flags, '-e', watch], { encoding: 'utf8', env });
}

describe('the code cache of the built command', () => {
  it('is taken by the V8 that it was made with', () => {
    expect(startWith(DIST)).toBe(`false\n${version}\n`);
  });

  it('is refused under other flags, and the command runs all the same', () => {
    expect(startWith(DIST, ['--no-sparkplug'])).toBe(`true\n${version}\n`);
  });

  it('may be missing', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sumi-no-cache-'));
    try {
      for (const name of ['sumi.cjs', 'command.cjs']) cpSync(join(DIST, name), join(folder, name));
      symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
      expect(startWith(folder)).toBe(`undefined\n${version}\n`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

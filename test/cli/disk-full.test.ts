import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';

let folder: ReturnType<typeof makeFolder>;
let web: FakeWeb;
let isMounted = false;

const mount = (...args: string[]) => spawnSync('mount', args, { encoding: 'utf8' });

beforeEach(async () => {
  folder = makeFolder();
  web = await startFakeWeb({ graph: { seed: 9, pages: 1200, textWords: 600 } });
});

afterEach(async () => {
  if (isMounted) spawnSync('umount', [folder.path]);
  isMounted = false;
  await web.close();
  folder.remove();
});

describe('a full disk', () => {
  it('ends the crawl with 4; once there is room the same command goes on to the end', async (context) => {
    const { status, stderr } = mount('-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder.path);
    isMounted = status === 0;
    if (!isMounted) {
      console.log(`skipped: a small file system cannot be mounted here (${stderr.trim()})`);
      context.skip();
    }
    const args = ['crawl', web.origin, '--delay', '0', '--json'];
    const full = await sumi(args, { cwd: folder.path });
    expect(full.stderr).toContain('code: disk-full');
    expect(full.code).toBe(4);
    expect(JSON.parse(full.stdout.trim().split('\n').at(-1)!)).toMatchObject({
      type: 'summary',
      status: 'interrupted',
      error: expect.stringContaining('disk is full'),
    });
    const before = web.log.length;
    expect(before).toBeLessThan(1200);

    expect(mount('-o', 'remount,size=200m', folder.path).status).toBe(0);
    const done = await sumi(args, { cwd: folder.path });
    expect(done.code).toBe(0);
    const events = done.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ type: 'run', run: 1, resumed: true });
    expect(events.at(-1)).toMatchObject({ status: 'completed', by_state: { Processed: 1200 } });
    const audit = await sumi(['audit', '--json'], { cwd: folder.path });
    expect(JSON.parse(audit.stdout)).toMatchObject({ violations: 0 });
  });
});

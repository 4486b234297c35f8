import { afterEach, expect, it } from 'vitest';
import type { FakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';
import { startTerrainWeb, writeTerrain } from './terrain-web.ts';

const folder = makeFolder();
let web: FakeWeb | undefined;
afterEach(async () => {
  await web?.close();
  folder.remove();
});

it('sumi reclassify says what changed, asks nobody, and the next sumi map goes on from there', async () => {
  web = await startTerrainWeb();
  const file = folder.file('terrain.toml');
  writeTerrain(file, web, 'max-depth = 1');
  expect((await sumi(['map', file, '-q'])).code).toBe(0);
  const before = web.log.length;
  writeTerrain(file, web, 'max-depth = 2');
  const told = await sumi(['reclassify', file]);
  expect(told).toMatchObject({ code: 0, stderr: '' });
  expect(told.stdout).toMatch(/^\d+ pages of "terrain" judged by the new lists\.\n/);
  expect(told.stdout).toMatch(/DepthExceeded +Queued +\d+\n/);
  const again = await sumi(['reclassify', file, '--json']);
  const { moves, waiting } = JSON.parse(again.stdout);
  expect(moves).toEqual([]);
  expect(waiting).toBeGreaterThan(0);
  expect(web.log).toHaveLength(before);
  expect((await sumi(['map', file, '-q'])).code).toBe(0);
  expect(web.log.length).toBeGreaterThan(before);
  expect(web.requestsTo('/a', 0).filter(({ method }) => method === 'GET')).toHaveLength(1);
  expect((await sumi(['reclassify', file])).stdout).toContain('No state changed.\nNothing waits.\n');
});

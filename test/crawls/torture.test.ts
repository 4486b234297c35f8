import { expect, it } from 'vitest';
import { SHORT_MAP_TORTURE, SHORT_TORTURE, torture } from '../../bench/torture.ts';

it('goes on after each kill -9 to the rows of an undisturbed crawl, and asks no host early', async () => {
  const report = await torture(SHORT_TORTURE);
  expect(report.differences).toEqual([]);
  expect(report).toMatchObject({ kills: SHORT_TORTURE.kills, shortGapsAcrossKills: 0, lastExitCode: 0 });
  expect(report.pagesCompared).toBeGreaterThanOrEqual(SHORT_TORTURE.pages);
  expect(report.worstKill).toBeLessThanOrEqual(report.worstKillBound);
});

it('goes on with a map after each kill -9 to the map of an undisturbed run, depths by origin included', async () => {
  const report = await torture(SHORT_MAP_TORTURE);
  expect(report.differences).toEqual([]);
  expect(report).toMatchObject({ kills: SHORT_MAP_TORTURE.kills, shortGapsAcrossKills: 0, lastExitCode: 0 });
  expect(report.depthsCompared).toBeGreaterThan(report.pagesCompared);
  expect(report.worstKill).toBeLessThanOrEqual(report.worstKillBound);
});

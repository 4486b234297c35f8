import { describe, expect, it } from 'vitest';
import { loadConfig } from './load-config.ts';
import { PROFILES } from './profiles.ts';

describe('the profiles of specification 003', () => {
  const of = async (profile: string) => await loadConfig({ env: {}, flags: { profile } });

  it('conservative asks little of a server', async () => {
    const { mode, maxDepth, headFirst, delay, concurrency, perHost } = await of('conservative');
    expect([mode, maxDepth, headFirst, delay, concurrency, perHost]).toEqual([
      'incremental',
      3,
      true,
      2,
      2,
      1,
    ]);
  });

  it('balanced asks only for what changed', async () => {
    const { mode, maxDepth, headFirst, delay } = await of('balanced');
    expect([mode, maxDepth, headFirst, delay]).toEqual(['incremental', 5, false, 0.5]);
  });

  it('aggressive goes as deep and as fast as politeness lets it', async () => {
    const { mode, maxDepth, headFirst, delay, concurrency, perHost, robots } = await of('aggressive');
    expect([mode, maxDepth, headFirst, delay, concurrency, perHost]).toEqual([
      'smart',
      null,
      false,
      0.2,
      32,
      8,
    ]);
    expect(robots).toBe(true);
  });

  it('are otherwise the profile site', () => {
    for (const name of ['conservative', 'balanced', 'aggressive'] as const) {
      const { mode, delay, concurrency, ...rest } = PROFILES[name].defaults;
      const same = Object.entries(rest).filter(
        ([option]) => !['max-depth', 'per-host', 'head-first'].includes(option),
      );
      expect(PROFILES.site.defaults).toMatchObject(Object.fromEntries(same));
      expect([mode, delay, concurrency].includes(undefined as never)).toBe(false);
    }
  });
});

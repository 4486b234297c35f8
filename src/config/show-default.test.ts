import { describe, expect, it } from 'vitest';
import { OPTION_NAMES, OPTIONS, type ProfiledName } from './option-table.ts';
import { parseValue } from './parse-value.ts';
import { PROFILES } from './profiles.ts';
import { PROFILE_NAMES } from './program.ts';
import { showDefault } from './show-default.ts';

describe('the default in help', () => {
  it('is in words that mean the default when they are typed', () => {
    let typed = 0;
    for (const name of OPTION_NAMES) {
      const spec = OPTIONS[name];
      const word = showDefault(name, 'terrain');
      const value = spec.default ?? PROFILES.terrain.defaults[name as ProfiledName] ?? null;
      if (word === null || word === 'off' || word.startsWith('--')) {
        expect([null, true, false, 0], name).toContain(Array.isArray(value) ? null : value);
        continue;
      }
      if (word === 'none' && (spec.type === 'string' || spec.type === 'list') && name !== 'bodies') continue;
      expect(parseValue(spec, word), `${name}: ${word}`).toEqual({ value });
      typed++;
    }
    expect(typed).toBeGreaterThan(50);
  });

  it('names the profiles that differ, for a command that takes any', () => {
    expect(showDefault('delay', 'site')).toBe(
      '0.5 s; terrain, sql: 1 s; conservative: 2 s; aggressive: 0.2 s',
    );
    expect(showDefault('delay', 'terrain')).toBe('1 s');
    expect(showDefault('store-text', 'site')).toBe('on; terrain: off');
    for (const name of Object.keys(PROFILES.site.defaults) as ProfiledName[]) {
      const shown = showDefault(name, 'site');
      const values = PROFILE_NAMES.map((profile) => JSON.stringify(PROFILES[profile].defaults[name]));
      const different = PROFILE_NAMES.filter((_, at) => values[at] !== values[0]);
      for (const profile of PROFILE_NAMES)
        expect(new RegExp(`[;,] ${profile}[,:]`).test(shown ?? ''), `${name}: ${profile}`).toBe(
          different.includes(profile),
        );
    }
  });

  it('is in the largest unit, and says of a switch what it changes from', () => {
    expect(showDefault('robots-ttl', 'site')).toBe('1 d');
    expect(showDefault('max-body-bytes', 'site')).toBe('10 MB');
    expect(showDefault('max-pages', 'site')).toBe('none');
    expect(showDefault('robots', 'site')).toBe('--robots');
    expect(showDefault('fresh', 'site')).toBe('off');
    expect(showDefault('user-agent', 'site')).toBeNull();
  });
});

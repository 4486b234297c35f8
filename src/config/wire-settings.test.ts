import { describe, expect, it } from 'vitest';
import { OPTION_NAMES, OPTIONS } from './option-table.ts';
import {
  listWireSettings,
  MOST_ITEMS_OF_SETTING,
  nearestSetting,
  readWireSettings,
  WIRE_SETTINGS,
  writeWireSettings,
} from './wire-settings.ts';

const LIMITS = { maxPagesLimit: 1000, allowsIgnoringRobots: false };
const SEVEN = [
  'max_pages',
  'include_patterns',
  'exclude_patterns',
  'max_concurrent',
  'delay_seconds',
  'respect_robots_txt',
  'fetch_only_urls',
];

const read = (given: Record<string, unknown>, limits = LIMITS) => readWireSettings(given, limits);

describe('settings on the wire', () => {
  it('are the seven and every option that a project may keep, once each', () => {
    expect(WIRE_SETTINGS).toEqual(expect.arrayContaining(SEVEN));
    expect(new Set(WIRE_SETTINGS).size).toBe(WIRE_SETTINGS.length);
    const replaced = ['max-pages', 'include', 'exclude', 'per-host', 'delay', 'start-urls'];
    for (const name of OPTION_NAMES) {
      const isThere = WIRE_SETTINGS.includes(name.replaceAll('-', '_'));
      const isOwnName = name === 'max-pages';
      const expected = isOwnName || (OPTIONS[name].setBy === 'project' && !replaced.includes(name));
      expect([name, isThere]).toEqual([name, expected]);
    }
  });

  it('come as they went', () => {
    const given = {
      max_pages: 7,
      include_patterns: '/a{1,2}/,/b/',
      exclude_patterns: '',
      max_concurrent: 2,
      delay_seconds: 1.5,
      respect_robots_txt: true,
      fetch_only_urls: null,
      max_depth: 3,
      accept_types: ['text/html'],
    };
    const { values, problems } = read(given);
    expect(problems).toEqual([]);
    expect(values).toEqual({
      'max-pages': 7,
      include: ['/a{1,2}/', '/b/'],
      exclude: [],
      'per-host': 2,
      delay: 1.5,
      robots: true,
      'max-depth': 3,
      'accept-types': ['text/html'],
    });
    expect(writeWireSettings(values, LIMITS)).toEqual(given);
    expect(read(writeWireSettings({}, LIMITS)).problems).toEqual([]);
  });

  it('of null go back to their defaults', () => {
    const nothing = Object.fromEntries(WIRE_SETTINGS.map((name) => [name, null]));
    const { values, problems } = read(nothing);
    expect(problems).toEqual([]);
    expect(Object.values(values).every((value) => value === null)).toBe(true);
    expect(writeWireSettings(values, LIMITS)).toMatchObject({
      max_pages: 200,
      delay_seconds: 0.5,
      max_concurrent: 5,
    });
  });

  it('never are more than the service allows, whatever a command has kept', () => {
    expect(writeWireSettings({ 'max-pages': 50_000 }, LIMITS).max_pages).toBe(1000);
    expect(writeWireSettings({}, { maxPagesLimit: 50 }).max_pages).toBe(50);
    expect(read({ max_pages: 1001 }).problems[0].detail).toMatch(/1 to 1000/);
  });

  it('ignore robots.txt only where the operator allows it', () => {
    expect(read({ respect_robots_txt: false }).problems).toMatchObject([{ isRobots: true }]);
    expect(read({ robots: false }).problems).toHaveLength(1);
    const allowed = read({ respect_robots_txt: false }, { ...LIMITS, allowsIgnoringRobots: true });
    expect(allowed).toEqual({ values: { robots: false }, problems: [] });
  });

  it('are refused by name, all at once, with what was meant', () => {
    const many = Array.from({ length: MOST_ITEMS_OF_SETTING + 1 }, (_, i) => `p${i}`);
    const { problems } = read({
      max_page: 1,
      max_depth: '3',
      exclude_patterns: many.join(','),
      accept_types: many,
      include_patterns: '(',
      constructor: 1,
    });
    expect(problems.map(({ name }) => name)).toEqual([
      'max_page',
      'max_depth',
      'exclude_patterns',
      'accept_types',
      'include_patterns',
      'constructor',
    ]);
    expect(nearestSetting('depth')).toBe('max_depth');
    expect(nearestSetting('delay')).toBe('delay_seconds');
    expect(nearestSetting('include')).toBe('include_patterns');
    expect(nearestSetting('respect_robots')).toBe('respect_robots_txt');
  });

  it('let no project fill the memory of the machine with one body', () => {
    const limits = { maxPagesLimit: 1000, allowsIgnoringRobots: false };
    expect(readWireSettings({ max_body_bytes: '100MB' }, limits).problems).toEqual([]);
    for (const name of ['max_body_bytes', 'max_sitemap_bytes'])
      expect(readWireSettings({ [name]: 1_000_000_000 }, limits).problems, name).toMatchObject([
        { name, detail: 'Expected at most 104857600 bytes.' },
      ]);
  });

  it('are listed with the defaults of the service', () => {
    const listed = listWireSettings(() => 'of the profile');
    expect(listed.map(({ name }) => name)).toEqual(
      WIRE_SETTINGS.filter((name) => name !== 'fetch_only_urls'),
    );
    expect(listed.find(({ name }) => name === 'max_pages')).toMatchObject({
      byDefault: 200,
      option: 'max-pages',
    });
    expect(listed.find(({ name }) => name === 'max_depth')).toMatchObject({ byDefault: 'of the profile' });
  });
});

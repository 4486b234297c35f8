import { describe, expect, it } from 'vitest';
import { loadConfig } from './load-config.ts';
import { OPTION_NAMES, OPTIONS } from './option-table.ts';
import { changeSettings, readSettings, writeSettings } from './project-settings.ts';

const change = (stored: Record<string, unknown>, set: string[], unset: string[] = []) =>
  changeSettings('shop', stored, { set, unset });
const refusal = async (stored: Record<string, unknown>, set: string[], unset: string[] = []) =>
  await change(stored, set, unset).then(
    () => null,
    (error: { code: string }) => error.code,
  );

describe('settings of a project', () => {
  it('are kept as the option table reads them, by name', async () => {
    expect(
      await change({}, [
        'mode=incremental',
        'delay=1500ms',
        'max_pages=200',
        'include=/a/,/b/',
        'follow-canonical=false',
      ]),
    ).toEqual({
      delay: 1.5,
      include: ['/a/', '/b/'],
      'max-pages': 200,
      mode: 'incremental',
      'follow-canonical': false,
    });
  });

  it('take the names of the specifications, and none as no limit', async () => {
    expect(await change({}, ['max-concurrent=7', 'max-depth=none'])).toEqual({
      concurrency: 7,
      'max-depth': null,
    });
  });

  it('change and go one by one, and are nothing when all are gone', async () => {
    const kept = await change({ mode: 'smart', delay: 2 }, ['mode=full'], ['delay']);
    expect(kept).toEqual({ mode: 'full' });
    const left = await change(kept, [], ['mode']);
    expect([left, writeSettings(left), readSettings(null)]).toEqual([{}, null, {}]);
    expect(readSettings(writeSettings(kept))).toEqual(kept);
  });

  it('can hold the value of an equals sign', async () => {
    expect(await change({}, ['user-agent=Bot/1.0 (a=b; +https://example.com/)'])).toEqual({
      'user-agent': 'Bot/1.0 (a=b; +https://example.com/)',
    });
  });

  it('refuse what no option is, what no value is, and what is not of one option', async () => {
    expect(await refusal({}, ['mod=full'])).toBe('unknown-option');
    expect(await refusal({}, [], ['mod'])).toBe('unknown-option');
    // `proxy` is nearer, but no project may keep it.
    const proxies = changeSettings('p', {}, { set: ['proxi=http://x:1'], unset: [] });
    await expect(proxies).rejects.toMatchObject({ hint: expect.not.stringMatching(/Try proxy/) });
    expect(await refusal({}, ['mode=quick'])).toBe('bad-value');
    expect(await refusal({}, ['mode'])).toBe('bad-value');
    expect(await refusal({}, ['=full'])).toBe('bad-value');
    expect(await refusal({}, ['include=('])).toBe('invalid-pattern');
    // It counts in milliseconds.
    expect(await refusal({}, ['minimum-time-on-page=100'])).toBe('unknown-option');
    // Limits of the profile that the project keeps.
    expect(await refusal({ profile: 'terrain' }, ['concurrency=500'])).toBe('bad-value');
  });

  it('are only those that the table lets a project set; the error says who may set the others', async () => {
    const others = OPTION_NAMES.filter((name) => OPTIONS[name].setBy !== 'project');
    expect(others.length).toBeGreaterThan(25);
    for (const name of others) {
      const error = await change({}, [`${name}=1`]).catch((thrown: unknown) => thrown);
      const who = OPTIONS[name].setBy === 'operator' ? 'only the operator' : 'a single command only';
      expect(error, name).toMatchObject({
        code: 'not-a-setting',
        message: expect.stringContaining(who),
      });
    }
  });

  it('that an older version kept are left alone by a change, and can be dropped', async () => {
    const stored = { robots: false, bodies: 'files:x', mode: 'full' };
    expect(await change(stored, ['delay=2'])).toEqual({ ...stored, delay: 2 });
    expect(await change(stored, [], ['robots', 'bodies'])).toEqual({ mode: 'full' });
  });

  it('that an older version kept are not used by a crawl, which names them', async () => {
    const values = { robots: false, 'on-change': 'rm -rf /', proxy: 'http://evil:1', delay: 2, urls: 'x' };
    const config = await loadConfig({ env: {}, settings: { project: 'shop', values } });
    expect(config).toMatchObject({ robots: true, onChange: null, proxy: null, urls: null, delay: 2 });
    expect(config.unusedSettings).toEqual(['on-change', 'proxy', 'robots', 'urls']);
    expect((await loadConfig({ env: {} })).unusedSettings).toEqual([]);
  });

  it('of another version can be dropped though nobody knows them any more', async () => {
    expect(await refusal({ warp: 9 }, ['mode=full'])).toBe('unknown-option');
    expect(await change({ warp: 9, mode: 'full' }, [], ['warp'])).toEqual({ mode: 'full' });
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { SumiError } from '../errors.ts';
import { type Config, type ConfigSources, configHash, loadConfig } from './load-config.ts';
import { OPTION_GROUPS, OPTION_NAMES, OPTIONS } from './option-table.ts';
import { parseValue } from './parse-value.ts';
import { PROFILES } from './profiles.ts';
import { PROFILE_NAMES } from './program.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-config-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function toml(text: string, name = 'crawl.toml'): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

async function errorOf(input: Partial<ConfigSources>): Promise<SumiError> {
  const result = await loadConfig({ env: {}, ...input }).catch((error: unknown) => error);
  if (result instanceof SumiError) return result;
  throw new Error(`expected a SumiError, got ${JSON.stringify(result)}`);
}

describe('the option table', () => {
  it('has defaults that its own rules accept, in every profile', () => {
    for (const profile of PROFILE_NAMES) {
      const profiled: Record<string, unknown> = PROFILES[profile].defaults;
      for (const name of OPTION_NAMES) {
        const spec = { ...OPTIONS[name], ...PROFILES[profile].limits[name] };
        const value = spec.default === undefined ? profiled[name] : spec.default;
        if (value === null) expect(spec.nullable, name).toBe(true);
        else expect(parseValue(spec, value), `${name} in ${profile}`).toEqual({ value });
      }
    }
  });

  it('says what switching off does, for every boolean that is on by default', () => {
    for (const name of OPTION_NAMES) {
      const { type, default: value, offDoc } = OPTIONS[name];
      expect(offDoc !== undefined, name).toBe(type === 'boolean' && value === true);
    }
  });

  it('has no option called like a group', () => {
    for (const group of Object.keys(OPTION_GROUPS)) expect(OPTION_NAMES).not.toContain(group);
  });

  it('gives each option its exact type', () => {
    expectTypeOf<Config['maxPages']>().toEqualTypeOf<number | null>();
    expectTypeOf<Config['on429']>().toEqualTypeOf<'backoff' | 'suspend'>();
    expectTypeOf<Config['include']>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<Config['userAgent']>().toEqualTypeOf<string>();
    expectTypeOf<Config['robots']>().toEqualTypeOf<boolean>();
  });
});

describe('loadConfig', () => {
  it('gives the site profile without any source', async () => {
    const config = await loadConfig({ env: {} });
    expect(config).toMatchObject({
      profile: 'site',
      db: './sumi.db',
      delay: 0.5,
      concurrency: 5,
      maxPages: null,
      maxDepth: null,
      on429: 'backoff',
      allowedHosts: ['host'],
      maxBodyBytes: 10 * 1024 * 1024,
    });
    expect(config.sources.delay).toEqual({ value: 0.5, from: 'profile site' });
    expect(config.sources.db).toEqual({ value: './sumi.db', from: 'default' });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.include)).toBe(true);
  });

  it('lets flags win over environment over file over profile over defaults', async () => {
    const file = toml('max-pages = 1\nmax-depth = 1\ndelay = 1\nretries = 1\nprofile = "terrain"');
    const config = await loadConfig({
      file,
      env: { SUMI_MAX_DEPTH: '2', SUMI_DELAY: '2', SUMI_RETRIES: '' },
      flags: { delay: '3' },
    });
    expect(config).toMatchObject({ maxPages: 1, maxDepth: 2, delay: 3, retries: 1, headFirst: true });
    expect(config.sources['max-pages'].from).toBe(`file ${file}`);
    expect(config.sources['max-depth'].from).toBe('env SUMI_MAX_DEPTH');
    expect(config.sources.delay.from).toBe('flag --delay');
    expect(config.sources['head-first'].from).toBe('profile terrain');
    expect(config.sources.profile).toEqual({ value: 'terrain', from: `file ${file}` });
    expect(config.sources.retries.from).toBe(`file ${file}`);
  });

  it('puts what the project keeps above profile and defaults, and below the file', async () => {
    const file = toml('max-depth = 1');
    const settings = {
      project: 'shop',
      values: { 'max-depth': 9, delay: 3, mode: 'smart', profile: 'aggressive', include: ['/a/'] },
    };
    const config = await loadConfig({ file, env: { SUMI_DELAY: '4' }, settings });
    expect(config).toMatchObject({ maxDepth: 1, delay: 4, mode: 'smart', include: ['/a/'], concurrency: 32 });
    expect(config.sources['max-depth'].from).toBe(`file ${file}`);
    expect(config.sources.delay.from).toBe('env SUMI_DELAY');
    expect(config.sources.mode).toEqual({ value: 'smart', from: 'project shop' });
    expect(config.sources.concurrency.from).toBe('profile aggressive');
    // An alias in a stronger source is the same option.
    expect((await loadConfig({ env: {}, flags: { delay_seconds: '7' }, settings })).delay).toBe(7);
  });

  it('says which setting of which project cannot be', async () => {
    const of = (values: Record<string, unknown>) => errorOf({ settings: { project: 'shop', values } });
    expect((await of({ mode: 'quick' })).message).toContain('project shop, setting mode');
    expect((await of({ moed: 'full' })).code).toBe('unknown-option');
    expect((await of({ include: ['('] })).code).toBe('invalid-pattern');
  });

  it('takes a program’s options by their camelCase names, above all others', async () => {
    const config = await loadConfig({
      env: { SUMI_ON_429: 'backoff' },
      options: { on429: 'suspend', maxPages: 7 },
    });
    expect(config).toMatchObject({ on429: 'suspend', maxPages: 7 });
    expect(config.sources['on-429'].from).toBe('option on429');
  });

  it('finds the file by flag, else by environment', async () => {
    const first = toml('max-pages = 1', 'first.toml');
    const second = toml('max-pages = 2', 'second.toml');
    expect((await loadConfig({ env: { SUMI_CONFIG: first } })).maxPages).toBe(1);
    const config = await loadConfig({ env: { SUMI_CONFIG: first }, flags: { config: second } });
    expect(config).toMatchObject({ maxPages: 2, config: second });
  });

  it('understands the names and units of the specifications, with hyphens or underscores', async () => {
    const file = toml(
      [
        'max_parallel_per_domain = 3',
        'max_response_bytes = "1MB"',
        'include_patterns = "/collections/,/pages/"',
        'respect_robots_txt = false',
        'accept_content_types = ["text/*"]',
        'fetch_only_urls = ["https://example.com/a,b", "https://example.com/c"]',
      ].join('\n'),
    );
    const config = await loadConfig({
      file,
      env: { SUMI_MINIMUM_TIME_ON_PAGE: '1500' },
      flags: { max_concurrent: '9' },
    });
    expect(config).toMatchObject({
      perHost: 3,
      maxBodyBytes: 1_048_576,
      include: ['/collections/', '/pages/'],
      robots: false,
      acceptTypes: ['text/*'],
      startUrls: ['https://example.com/a,b', 'https://example.com/c'],
      fetchOnly: true,
      delay: 1.5,
      concurrency: 9,
    });
  });

  it('takes a limit away with none', async () => {
    const config = await loadConfig({ env: { SUMI_MAX_PAGES: '5' }, flags: { 'max-pages': 'none' } });
    expect(config.maxPages).toBeNull();
  });

  it('reads resolve rules and proxies', async () => {
    const config = await loadConfig({
      env: { HTTPS_PROXY: 'proxy.example:3128', NO_PROXY: 'localhost, .internal' },
      flags: { resolve: ['a.example=127.0.0.1:8080,b.example=::1'] },
    });
    expect(config.resolveRules).toEqual([
      { name: 'a.example', address: '127.0.0.1', port: 8080 },
      { name: 'b.example', address: '::1', port: null },
    ]);
    expect(config.proxies).toEqual({
      https: 'http://proxy.example:3128/',
      no: 'localhost, .internal',
    });
  });
});

describe('loadConfig refuses', () => {
  it('an unknown key, with the nearest one, file and key', async () => {
    const file = toml('max-page = 3');
    const error = await errorOf({ file });
    expect(error).toMatchObject({ code: 'unknown-option', exitCode: 2 });
    expect(error.message).toContain(`file ${file}, key max-page`);
    expect(error.hint).toContain('max-pages;');
  });

  it('an unknown key inside a section, and an unknown section', async () => {
    const inner = await errorOf({ file: toml('[crawler]\nmax-detph = 3') });
    expect(inner.message).toContain('key crawler.max-detph');
    expect(inner.hint).toContain('max-depth;');
    const outer = await errorOf({ file: toml('[crawlers]\nmax-depth = 3') });
    expect(outer.hint).toContain('crawler;');
  });

  it('an unknown SUMI_ variable, but not those of tests and benchmarks', async () => {
    const error = await errorOf({ env: { SUMI_MAX_PAGS: '3' } });
    expect(error.code).toBe('unknown-option');
    expect(error.hint).toContain('SUMI_MAX_PAGES');
    await expect(loadConfig({ env: { SUMI_SEED: '1', SUMI_FLAGS: '--x' } })).resolves.toBeDefined();
  });

  it('a value outside the limits, with value, limits and place', async () => {
    const error = await errorOf({ flags: { 'max-pages': '0' } });
    expect(error.code).toBe('bad-value');
    expect(error.message).toBe(
      '--max-pages cannot be "0" (flag --max-pages); expected a whole number of at least 1, or none.',
    );
    const file = toml('concurrency = 10001');
    expect((await errorOf({ file })).message).toContain(`(file ${file}, key concurrency)`);
  });

  it('a bad value also where a later source would win', async () => {
    const error = await errorOf({ env: { SUMI_DELAY: 'fast' }, flags: { delay: '1' } });
    expect(error.message).toContain('env SUMI_DELAY');
  });

  it('what specification 004 forbids in a map, in the units of its names', async () => {
    const pages = await errorOf({
      profile: 'terrain',
      file: toml('[crawler]\nmax-concurrent-pages-open = 101'),
    });
    expect(pages.message).toContain('from 1 to 100 in profile terrain');
    const time = await errorOf({ profile: 'terrain', file: toml('[crawler]\nminimum-time-on-page = 99') });
    expect(time.message).toContain('crawler.minimum-time-on-page cannot be 99');
    expect(time.message).toContain('from 100 to 86400000, in milliseconds');
    await expect(loadConfig({ env: {}, flags: { concurrency: '101', delay: '0' } })).resolves.toBeDefined();
    for (const [key, value] of [
      ['max-depth', '-1'],
      ['max-domain-requests', '0'],
      ['crawler-name', '""'],
      ['crawler-name', '"Sumi Ripple"'],
      ['contact-url', '"example.com"'],
      ['contact-email', '"nobody"'],
    ]) {
      expect((await errorOf({ profile: 'terrain', file: toml(`${key} = ${value}`) })).code, key).toBe(
        'bad-value',
      );
    }
  });

  it('the same option under two names', async () => {
    const error = await errorOf({ file: toml('concurrency = 3\nmax_total_connections = 4') });
    expect(error.code).toBe('option-twice');
    expect(error.message).toContain('concurrency');
  });

  it('an unknown profile, with the known ones', async () => {
    const error = await errorOf({ flags: { profile: 'terain' } });
    expect(error).toMatchObject({ code: 'unknown-profile' });
    expect(error.hint).toContain('terrain');
  });

  it('an unknown preset, with the nearest', async () => {
    const error = await errorOf({ flags: { preset: ['shopfy'] } });
    expect(error.code).toBe('unknown-preset');
    expect(error.hint).toContain('shopify');
  });

  it('a pattern that is not a regular expression', async () => {
    const error = await errorOf({ flags: { exclude: ['/ok/', '(unclosed'] } });
    expect(error).toMatchObject({ code: 'invalid-pattern', exitCode: 2 });
    expect(error.message).toContain('(unclosed');
    expect(error.message).toContain('flag --exclude');
  });

  it('a file that is missing, a directory, not UTF-8 or not TOML', async () => {
    expect((await errorOf({ file: join(folder, 'none.toml') })).code).toBe('config-missing');
    expect((await errorOf({ file: folder })).message).toContain('it is a directory');
    const bytes = join(folder, 'latin1.toml');
    writeFileSync(bytes, Buffer.from([0x61, 0x3d, 0x22, 0xe9, 0x22]));
    expect((await errorOf({ file: bytes })).message).toContain('not UTF-8');
    const error = await errorOf({ file: toml('max-pages = 1\ndelay = = 2') });
    expect(error.code).toBe('config-syntax');
    expect(error.details).toMatchObject({ line: 2 });
    expect(error.message.split('\n')).toHaveLength(1);
  });

  it('start URLs that cannot be crawled', async () => {
    expect((await errorOf({ file: toml('start-urls = ["ftp://example.com/"]') })).code).toBe('url-scheme');
  });

  it('a file that names another file', async () => {
    expect((await errorOf({ file: toml('config = "other.toml"') })).code).toBe('bad-value');
  });

  it('malformed resolve rules and proxies, without printing the password', async () => {
    expect((await errorOf({ flags: { resolve: ['example.com'] } })).code).toBe('resolve-malformed');
    const error = await errorOf({ flags: { proxy: 'socks5://me:secret@proxy' } });
    expect(error.code).toBe('proxy-malformed');
    expect(error.message).not.toContain('secret');
    expect((await errorOf({ env: { http_proxy: 'http://' } })).message).toContain('env http_proxy');
  });
});

describe('a terrain file', () => {
  const terrain = `
[crawler]
max-depth = 2
max-concurrent-pages-open = 10
minimum-time-on-page = 1000
max-domain-requests = 500
[user-agent]
crawler-name = "SumiRipple"
crawler-version = "1.0"
contact-url = "https://example.com/about-our-crawler"
contact-email = "crawler-admin@example.com"
[output]
database-path = "./sumi-ripple.db"
summary-path = "./crawl-summary.md"
[[quality]]
domain = "example.com"
seeds = ["https://example.com/", "https://example.com/blog/"]
[[quality]]
domain = "*.another-site.org"
seeds = ["https://blog.another-site.org/"]
[[blacklist]]
domain = "*.tracking-service.com"
[[stub]]
domain = "github.com"
`;

  it('fills options, User-Agent and domain lists', async () => {
    const config = await loadConfig({ profile: 'terrain', file: toml(terrain), env: {} });
    expect(config).toMatchObject({ maxDepth: 2, concurrency: 10, delay: 1, maxDomainRequests: 500 });
    expect(config).toMatchObject({
      db: join(folder, 'sumi-ripple.db'),
      normalize: 'terrain',
      allowHttp: false,
    });
    expect(config.userAgent).toBe(
      'SumiRipple/1.0 (+https://example.com/about-our-crawler; crawler-admin@example.com)',
    );
    expect(config.terrain).toEqual({
      quality: [
        { domain: 'example.com', seeds: ['https://example.com/', 'https://example.com/blog/'] },
        { domain: '*.another-site.org', seeds: ['https://blog.another-site.org/'] },
      ],
      blacklist: ['*.tracking-service.com'],
      stub: ['github.com'],
      summaryPath: join(folder, 'crawl-summary.md'),
    });
  });

  it('needs a valid domain and https seeds', async () => {
    const withQuality = (text: string) => errorOf({ profile: 'terrain', file: toml(`[[quality]]\n${text}`) });
    expect((await withQuality('domain = "exa*mple.com"\nseeds = ["https://example.com/"]')).code).toBe(
      'invalid-domain',
    );
    expect((await withQuality('seeds = ["https://example.com/"]')).message).toContain(
      'domain is missing (file',
    );
    expect((await withQuality('domain = "example.com"')).message).toContain('at least one');
    expect((await withQuality('domain = "example.com"\nseeds = []')).message).toContain('quality number 1');
    expect((await withQuality('domain = "-a.com"\nseeds = ["https://a.com/"]')).code).toBe('invalid-domain');
    expect((await withQuality('domain = "example.com"\nseeds = ["https://a.example.com/"]')).code).toBe(
      'seed-elsewhere',
    );
    expect((await withQuality('domain = "example.com"\nseeds = ["http://example.com/"]')).message).toContain(
      'expected a list of https URLs',
    );
    expect((await withQuality('domain = "example.com"\nseed = ["https://example.com/"]')).hint).toContain(
      'seeds',
    );
  });

  it('takes http seeds with allow-http', async () => {
    const file = toml(
      'allow-http = true\n[[quality]]\ndomain = "127.0.0.1"\nseeds = ["http://127.0.0.1:8080/"]',
    );
    const config = await loadConfig({ profile: 'terrain', file, env: {} });
    expect(config.terrain.quality[0].seeds).toEqual(['http://127.0.0.1:8080/']);
  });

  it('refuses a list that is not made of sections', async () => {
    expect((await errorOf({ file: toml('stub = "github.com"') })).message).toContain('[[stub]]');
  });
});

describe('where a crawl is kept', () => {
  const STORE = 'postgres://sumi:secret@db.example.com:5432/crawl';
  const storeOf = async (input: Partial<ConfigSources>) => {
    const { store, storeAddress, storeLabel } = await loadConfig({ env: {}, ...input });
    return { store, storeAddress, storeLabel };
  };

  it('is the file, unless a store is named', async () => {
    expect(await storeOf({})).toEqual({ store: null, storeAddress: './sumi.db', storeLabel: './sumi.db' });
    expect(await storeOf({ flags: { store: STORE } })).toEqual({
      store: STORE,
      storeAddress: STORE,
      storeLabel: 'postgres://sumi@db.example.com:5432/crawl',
    });
  });

  it('is what the stronger source says, whichever of the two options it uses', async () => {
    const byFlag = { env: { SUMI_STORE: STORE }, flags: { db: 'x.db' } };
    expect(await storeOf(byFlag)).toMatchObject({ store: null, storeAddress: 'x.db' });
    expect((await loadConfig(byFlag)).sources.store).toEqual({ value: null, from: 'flag --db' });
    expect(await storeOf({ env: { SUMI_DB: 'x.db' }, flags: { store: STORE } })).toMatchObject({
      store: STORE,
    });
    const file = toml(`store = "${STORE}"`);
    expect(await storeOf({ file })).toMatchObject({ store: STORE });
    expect(await storeOf({ file, env: { SUMI_DB: 'x.db' } })).toMatchObject({ storeAddress: 'x.db' });
    expect(await storeOf({ file, options: { store: null } })).toMatchObject({ storeAddress: './sumi.db' });
  });

  it.each([
    ['flag', { flags: { store: STORE, db: 'x.db' } }, ['--store', '--db']],
    ['variable', { env: { SUMI_STORE: STORE, SUMI_DB: 'x.db' } }, ['SUMI_STORE', 'SUMI_DB']],
    ['option of a program', { options: { store: STORE, db: 'x.db' } }, ['option store']],
  ])('cannot be two places, each given by a %s', async (_, input, words) => {
    const error = await errorOf(input);
    expect(error).toMatchObject({ code: 'two-stores', exitCode: 2 });
    for (const word of words) expect(error.message).toContain(word);
    expect(JSON.stringify([error.message, error.hint, error.details])).not.toContain('secret');
  });

  it('two places from a weaker source do not matter once a flag decides', async () => {
    const env = { SUMI_STORE: STORE, SUMI_DB: 'x.db' };
    expect(await storeOf({ env, flags: { db: 'y.db' } })).toMatchObject({ storeAddress: 'y.db' });
  });

  it.each([
    ['store', 'mysql://sumi:secret@host/crawl', 'mysql://sumi:***@host/crawl'],
    ['store', 'postgres://', 'postgres://'],
    ['store', 'postgres://sumi:secret@/crawl', 'postgres://sumi:***@/crawl'],
    ['store', 'postgres://sumi:sec/ret@host/crawl', 'postgres://sumi:***@host/crawl'],
    ['store', 'postgres:///crawl?password=secret', 'postgres:///crawl?password=***'],
    ['store', './sumi.db', './sumi.db'],
    ['db', 'postgres://sumi:secret@host/crawl', 'postgres://sumi:***@host/crawl'],
  ])('%s refuses %s without its password', async (option, value, shown) => {
    const error = await errorOf({ flags: { [option]: value } });
    expect(error).toMatchObject({ code: 'bad-value', exitCode: 2 });
    expect(error.message).toContain(`--${option} cannot be "${shown}"`);
    expect(error.message).toContain(option === 'db' ? 'goes to --store' : 'postgres://USER:PASSWORD@HOST');
    expect(JSON.stringify([error.message, error.hint, error.details])).not.toMatch(/secret|sec\/ret/);
  });
});

describe('configHash', () => {
  it('is the same wherever the values came from', async () => {
    const byFlag = await loadConfig({ env: {}, flags: { 'max-depth': '3', include: ['a', 'b'] } });
    const byFile = await loadConfig({ env: {}, file: toml('include = "a,b"\nmax-depth = 3') });
    expect(configHash(byFlag)).toBe(configHash(byFile));
    expect(configHash(byFlag)).toMatch(/^[0-9a-f]{64}$/);
  });

  it('changes with what a crawl does and not with what it prints', async () => {
    const plain = configHash(await loadConfig({ env: {} }));
    const hashWith = async (flags: Record<string, unknown>) =>
      configHash(await loadConfig({ env: {}, flags }));
    expect(await hashWith({ delay: '2' })).not.toBe(plain);
    expect(await hashWith({ robots: false })).not.toBe(plain);
    expect(await hashWith({ db: 'x.db', verbose: 2, json: true, project: 'p', proxy: 'http://p:1' })).toBe(
      plain,
    );
    expect(await hashWith({ store: 'postgres://h/d', 'lease-seconds': '9', meta: ['a=b'] })).toBe(plain);
  });

  it('changes with the domain lists', async () => {
    const one = await loadConfig({ env: {}, file: toml('[[stub]]\ndomain = "a.com"') });
    const two = await loadConfig({ env: {}, file: toml('[[stub]]\ndomain = "b.com"') });
    expect(configHash(one)).not.toBe(configHash(two));
  });
});

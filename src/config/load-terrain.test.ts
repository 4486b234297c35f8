import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SumiError } from '../errors.ts';
import { loadTerrain } from './load-terrain.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-terrain-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function load(text: string, flags: Record<string, unknown> = {}, env: Record<string, string> = {}) {
  const file = join(folder, 'around-us.toml');
  writeFileSync(file, text);
  return loadTerrain({ file, env, flags });
}

async function refusal(text: string): Promise<string> {
  const error = await load(text).catch((thrown: unknown) => thrown);
  if (!(error instanceof SumiError)) throw new Error(`expected a SumiError, got ${String(error)}`);
  expect([error.code, error.exitCode]).toEqual(['terrain-invalid', 2]);
  expect(readdirSync(folder)).toEqual(['around-us.toml']);
  return error.message;
}

const QUALITY = '[[quality]]\ndomain = "example.com"\nseeds = ["https://example.com/"]\n';

describe('a terrain file', () => {
  it('needs no more than one quality domain; database and summary are beside it', async () => {
    const { config, warnings, summaryPath } = await load(QUALITY);
    expect(config).toMatchObject({ profile: 'terrain', project: 'terrain', maxDepth: 3, concurrency: 10 });
    expect(config.storeAddress).toBe(join(folder, 'sumi.db'));
    expect(summaryPath).toBe(join(folder, 'crawl-summary.md'));
    expect(warnings).toEqual([]);
  });

  it('has an example that is in order, with every key of the specification', async () => {
    const file = join(import.meta.dirname, '..', '..', 'examples', 'terrain.toml');
    const { config, warnings } = await loadTerrain({ file, env: {} });
    expect(warnings).toEqual([]);
    const { quality, blacklist, stub } = config.terrain;
    expect([quality.length, blacklist.length, stub.length]).toEqual([2, 2, 2]);
    const fromFile = Object.entries(config.sources).filter(([, { from }]) => from === `file ${file}`);
    expect(fromFile.map(([name]) => name).sort()).toEqual([
      'concurrency',
      'contact-email',
      'contact-url',
      'crawler-name',
      'crawler-version',
      'db',
      'delay',
      'max-depth',
      'max-domain-requests',
      'store',
    ]);
  });

  it('names files from its own folder, and flags from that of the command', async () => {
    const text = `${QUALITY}[output]\ndatabase-path = "data/a.db"\nsummary-path = "../b.md"\nbodies = "files:x"\n`;
    const { config, summaryPath } = await load(text);
    expect([config.db, config.bodies]).toEqual([join(folder, 'data/a.db'), `files:${join(folder, 'x')}`]);
    expect(summaryPath).toBe(join(folder, '..', 'b.md'));
    expect((await load(text, { db: 'c.db' })).config.db).toBe('c.db');
    const store = 'postgres://sumi@127.0.0.1/map';
    expect((await load(text, { store })).config).toMatchObject({ storeAddress: store, project: 'around-us' });
    expect((await load(text, { store, project: 'p' })).config.project).toBe('p');
  });

  it('is a map, whatever profile or file the environment names', async () => {
    const { config } = await load(QUALITY, {}, { SUMI_PROFILE: 'site', SUMI_CONFIG: 'no.toml' });
    expect([config.profile, config.headFirst]).toEqual(['terrain', true]);
  });

  it('takes an address as a domain, and http where it is allowed by file, flag or environment', async () => {
    const lists = '[[quality]]\ndomain = "127.0.0.1"\nseeds = ["http://127.0.0.1:8080/"]\n';
    expect((await load(`[crawler]\nallow-http = true\n${lists}`)).config.allowHttp).toBe(true);
    expect((await load(lists, { 'allow-http': true })).config.allowHttp).toBe(true);
    expect((await load(lists, {}, { SUMI_ALLOW_HTTP: 'yes' })).config.allowHttp).toBe(true);
    expect(await refusal(lists)).toContain('allow-http = true under [crawler] admits http');
  });

  it('takes seeds of its domain under www. and in any case, and a domain with www.', async () => {
    const seeds = 'seeds = ["https://WWW.example.com/", "https://example.com/a"]';
    for (const domain of ['example.com', 'www.example.com', '*.Example.com'])
      expect((await load(`[[quality]]\ndomain = "${domain}"\n${seeds}`)).config.terrain.quality).toHaveLength(
        1,
      );
  });
});

describe('a wrong terrain file', () => {
  it('is told everything at once, by line', async () => {
    const message = await refusal(
      [
        '[crawler]', // 1
        'max-depth = -1', // 2
        'max-concurent-pages-open = 10', // 3
        '', // 4
        '[user-agent]', // 5
        'crawler-name = "no spaces"', // 6
        '[[quality]]', // 7
        'domain = "exa*mple.com"', // 8
        'seeds = [', // 9
        '  "https://example.com/",', // 10
        '  "http://example.com/",', // 11
        ']', // 12
        '[[quality]]', // 13
        'domain = "b.com"', // 14
        '[[stub]]', // 15
        'domian = "c.com"', // 16
      ].join('\n'),
    );
    const told = message.split('\n').slice(1);
    expect(message).toContain('around-us.toml has 8 problems:');
    const wanted: [number, string[]][] = [
      [2, ['crawler.max-depth cannot be -1', 'at least 0']],
      [3, ['crawler.max-concurent-pages-open', 'Try max-concurrent-pages-open.']],
      [6, ['user-agent.crawler-name', '"no spaces"', 'letters, digits and hyphens']],
      [8, ['quality.domain', '"exa*mple.com"', 'a star only as the first label']],
      [11, ['quality.seeds', '"http://example.com/"', 'https']],
      [13, ['quality.seeds is missing; expected a list', 'at least one']],
      [15, ['stub.domain is missing; expected a domain such as example.com']],
      [16, ['stub.domian', 'domain']],
    ];
    expect(told).toHaveLength(wanted.length);
    for (const [at, [line, words]] of wanted.entries()) {
      expect(told[at]).toContain(` line ${line}: `);
      for (const word of words) expect(told[at]).toContain(word);
    }
  });

  const alone: [string, string, number, string[]][] = [
    ['a depth below 0', '[crawler]\nmax-depth = -1', 2, ['crawler.max-depth', '-1']],
    ['a depth that is no whole number', '[crawler]\nmax-depth = 1.5', 2, ['1.5', 'whole number']],
    ['a number in quotes', '[crawler]\nmax-depth = "2"', 2, ['crawler.max-depth', 'without quotes']],
    ['no page at once', '[crawler]\n\nmax-concurrent-pages-open = 0', 3, ['0', 'from 1 to 100']],
    ['too many pages at once', '[crawler]\nmax-concurrent-pages-open = 101', 2, ['from 1 to 100']],
    ['too short a time', '[crawler]\nminimum-time-on-page = 99', 2, ['99', 'from 100', 'milliseconds']],
    ['no request to a domain', '[crawler]\nmax-domain-requests = 0', 2, ['0', 'at least 1']],
    ['a name that is empty', '[user-agent]\ncrawler-name = ""', 2, ['crawler-name', '""']],
    ['a name with a space', '[user-agent]\ncrawler-name = "a b"', 2, ['letters, digits and hyphens']],
    ['a contact that is no URL', '[user-agent]\ncontact-url = "me"', 2, ['"me"', 'http or https URL']],
    ['a contact that is no e-mail', '[user-agent]\ncontact-email = "me"', 2, ['"me"', 'e-mail']],
    ['a wildcard in the middle', '[[stub]]\ndomain = "a.*.com"', 2, ['stub.domain', '"a.*.com"', 'star']],
    ['a domain with a scheme', '[[blacklist]]\ndomain = "https://a.com"', 2, ['no scheme']],
    ['a domain with a port', '[[blacklist]]\ndomain = "a.com:80"', 2, ['no port']],
    ['an empty domain', '[[blacklist]]\ndomain = ""', 2, ['blacklist.domain']],
    ['a section for an option', 'crawler = 5', 1, ['a section written [crawler]']],
    ['a list that is none', 'stub = "a.com"', 1, ['sections written [[stub]]']],
    ['a setting twice', '[crawler]\ndelay = 2\nminimum-time-on-page = 100', 3, ['twice', 'crawler.delay']],
    ['a summary path that is none', '[output]\nsummary-path = 3', 2, ['output.summary-path', '3']],
    ['an unknown section', '[crawlr]\nx = 1', 1, ['crawlr', 'crawler']],
  ];
  for (const [what, text, line, words] of alone) {
    it(`is refused for ${what}, with its line`, async () => {
      const message = await refusal(`${text}\n${QUALITY}`);
      expect(message).toContain(`has a problem:\n        line ${line}: `);
      for (const word of words) expect(message).toContain(word);
    });
  }

  it('is refused for seeds that are missing, no https, or elsewhere', async () => {
    const quality = (seeds: string) => refusal(`[[quality]]\ndomain = "example.com"\n${seeds}`);
    expect(await quality('')).toContain('line 1: quality.seeds is missing; expected a list');
    expect(await quality('seeds = []')).toContain('line 3: quality.seeds cannot be []');
    expect(await quality('seeds = "https://example.com/"')).toContain('line 3: quality.seeds');
    expect(await quality('seeds = ["ftp://example.com/"]')).toContain('https URLs');
    const elsewhere = await quality('seeds = ["https://example.com/",\n"https://blog.example.com/"]');
    expect(elsewhere).toContain('line 4: quality.seeds: The seed https://blog.example.com/ is not under');
    expect(elsewhere).toContain('*.example.com');
  });

  it('is refused without a quality domain', async () => {
    expect(await refusal('[[stub]]\ndomain = "a.com"')).toContain('line 2: There is no quality domain');
    expect(await refusal('quality = []')).toContain('line 1: There is no quality domain');
    expect(await refusal('')).toContain('[[quality]]');
  });

  it('is refused for its syntax with line and column', async () => {
    const error = await load('[crawler]\nmax-depth = = 2\n').catch((thrown: SumiError) => thrown);
    expect(error).toMatchObject({ code: 'config-syntax', exitCode: 2, details: { line: 2 } });
  });
});

describe('a doubtful terrain file', () => {
  const warningsOf = async (text: string) => (await load(text)).warnings;

  it('with a domain in two lists is taken, and told which list wins', async () => {
    const warnings = await warningsOf(
      `${QUALITY}[[stub]]\ndomain = "example.com"\n[[blacklist]]\ndomain = "*.a.org"\n[[stub]]\ndomain = "b.a.org"\n${QUALITY.replaceAll('example.com', 'left.org')}`,
    );
    expect(warnings).toEqual([
      expect.stringMatching(
        /line 9: "b.a.org" in \[\[stub\]\] counts for nothing, because \[\[blacklist\]\] has "\*.a.org" \(line 7\)/,
      ),
      expect.stringMatching(
        /line 2: "example.com" in \[\[quality\]\] counts for nothing, because \[\[stub\]\] has "example.com" \(line 5\)/,
      ),
    ]);
  });

  it('with a domain twice in a list is taken once, with the seeds of both', async () => {
    const text = `${QUALITY}[[quality]]\ndomain = "example.com"\nseeds = ["https://example.com/b"]`;
    const { warnings, config } = await load(text);
    expect(warnings).toEqual([
      expect.stringContaining('line 5: "example.com" stands twice in [[quality]] (also line 2)'),
    ]);
    expect(config.terrain.quality).toEqual([
      { domain: 'example.com', seeds: ['https://example.com/', 'https://example.com/b'] },
    ]);
  });

  it('says nothing where one list only takes a part of another', async () => {
    const text = `${QUALITY.replace('"example.com"', '"*.example.com"')}[[blacklist]]\ndomain = "ads.example.com"`;
    expect(await warningsOf(text)).toEqual([]);
  });
});

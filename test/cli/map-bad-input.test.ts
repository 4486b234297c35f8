import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder, sumi } from './run-sumi.ts';

let folder: ReturnType<typeof makeFolder>;

beforeEach(() => {
  folder = makeFolder();
});

afterEach(() => folder.remove());

const QUALITY = '[[quality]]\ndomain = "example.com"\nseeds = ["https://example.com/"]\n';
const write = (text: string) => writeFileSync(folder.file('terrain.toml'), text);
const run = (...args: string[]) => sumi(args, { cwd: folder.path });

/** Exit 2, the words on standard error with a hint and a code, nothing else printed and nothing written. */
async function expectRefusal(args: string[], code: string, ...words: string[]): Promise<string> {
  const before = readdirSync(folder.path);
  const finished = await run(...args);
  expect(finished.stderr).toContain(`code: ${code}`);
  for (const word of words) expect(finished.stderr).toContain(word);
  expect([finished.code, finished.stdout]).toEqual([2, '']);
  expect(readdirSync(folder.path)).toEqual(before);
  return finished.stderr;
}

describe('a terrain file that breaks one rule of section 2.2 is refused with line, key and hint', () => {
  const seeds = (text: string) => `[[quality]]\ndomain = "example.com"\nseeds = ${text}\n`;
  const wrong: [string, string, string[]][] = [
    ['max-depth', `[crawler]\nmax-depth = -1\n${QUALITY}`, ['line 2: crawler.max-depth', '-1']],
    ['no page at once', `[crawler]\nmax-concurrent-pages-open = 0\n${QUALITY}`, ['line 2', 'from 1 to 100']],
    ['101 at once', `[crawler]\nmax-concurrent-pages-open = 101\n${QUALITY}`, ['line 2', 'from 1 to 100']],
    ['minimum-time-on-page', `[crawler]\nminimum-time-on-page = 99\n${QUALITY}`, ['line 2', 'from 100']],
    ['max-domain-requests', `[crawler]\nmax-domain-requests = 0\n${QUALITY}`, ['line 2', 'at least 1']],
    ['an empty crawler-name', `[user-agent]\ncrawler-name = ""\n${QUALITY}`, ['line 2', 'crawler-name']],
    ['crawler-name', `[user-agent]\ncrawler-name = "my bot"\n${QUALITY}`, ['line 2', '"my bot"']],
    ['contact-url', `[user-agent]\ncontact-url = "example"\n${QUALITY}`, ['line 2', 'contact-url']],
    ['contact-email', `[user-agent]\ncontact-email = "me@"\n${QUALITY}`, ['line 2', 'e-mail']],
    [
      'domain',
      `${QUALITY}[[stub]]\ndomain = "not a domain"\n`,
      ['line 5: stub.domain', 'Use the name alone'],
    ],
    ['a wildcard in the middle', `${QUALITY}[[stub]]\ndomain = "a.*.org"\n`, ['line 5', 'star']],
    ['no seeds', '[[quality]]\ndomain = "example.com"\n', ['line 1: quality.seeds', 'at least one']],
    ['empty seeds', seeds('[]'), ['line 3: quality.seeds', 'at least one']],
    ['http seeds', seeds('["http://example.com/"]'), ['line 3: quality.seeds', 'allow-http = true']],
    ['seeds that are no URLs', seeds('["example.com"]'), ['line 3: quality.seeds', 'https URLs']],
    ['a seed elsewhere', seeds('["https://other.org/"]'), ['line 3', 'not under its domain example.com']],
    ['an empty quality list', 'quality = []\n', ['line 1', '[[quality]]']],
    ['no quality list', '[[stub]]\ndomain = "a.org"\n', ['line 2', '[[quality]]']],
    ['a misspelt key', `[crawler]\nmax-dept = 2\n${QUALITY}`, ['line 2', 'max-dept', 'max-depth']],
  ];
  for (const [what, text, words] of wrong) {
    it(what, async () => {
      write(text);
      await expectRefusal(['map', 'terrain.toml'], 'terrain-invalid', 'examples/terrain.toml', ...words);
    });
  }

  it('and one that breaks several is told all of them at once', async () => {
    write(`[crawler]\nmax-depth = -1\nmax-domain-requests = 0\n${seeds('["http://example.com/"]')}`);
    const told = await expectRefusal(['terrain.toml'], 'terrain-invalid', 'has 3 problems');
    expect(told.match(/line \d+/g)).toEqual(['line 2', 'line 3', 'line 6']);
  });
});

describe('a terrain file that cannot be read is refused', () => {
  it('for a mistake of syntax, with line and column', async () => {
    write('[crawler]\nmax-depth = \n');
    await expectRefusal(['terrain.toml'], 'config-syntax', 'line 2', 'Text needs quotes');
  });

  it('when it is not there, under either name of the command', async () => {
    await expectRefusal(['map', 'no.toml'], 'config-missing', 'no.toml');
    await expectRefusal(['no.toml'], 'config-missing', 'no.toml');
    await expectRefusal(['map'], 'usage', "missing required argument 'file'");
  });

  it('when a second file is given beside it, which would count for nothing', async () => {
    write(QUALITY);
    writeFileSync(folder.file('other.toml'), 'max-depth = 1\n');
    for (const command of ['map', 'reclassify']) {
      const args = [command, 'terrain.toml', '--config', 'other.toml'];
      await expectRefusal(args, 'usage', '--config is given beside a terrain file', `sumi ${command} --help`);
    }
  });

  it('when it is a directory', async () => {
    mkdirSync(folder.file('terrain.toml'));
    await expectRefusal(['terrain.toml'], 'config-unreadable', 'directory');
  });
});

describe('sumi map', () => {
  it('warns of a domain in two lists and goes on', async () => {
    write(`${QUALITY}[[blacklist]]\ndomain = "github.com"\n[[stub]]\ndomain = "github.com"\n`);
    const { code, stderr } = await run('terrain.toml', '--dry-run');
    expect(code).toBe(0);
    expect(stderr).toContain('warning: terrain.toml line 7: "github.com" in [[stub]] counts for nothing');
    expect(stderr).toContain('[[blacklist]] has "github.com" (line 5)');
  });

  it('asks nobody where every seed is in a stronger list: the seed is noted, and that was it', async () => {
    write(`${QUALITY}[[blacklist]]\ndomain = "*.example.com"\n`);
    const { code, stderr } = await run('map', 'terrain.toml', '--json');
    expect(stderr).toContain('warning: terrain.toml line 2: "example.com" in [[quality]] counts for nothing');
    expect(code).toBe(0);
    const { stdout } = await run('pages', '--db', 'sumi.db', '--format', 'jsonl');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).state),
    ).toEqual(['Blacklisted']);
  });

  it('takes a file of any ending without the name of the command, and nothing that is no file', async () => {
    writeFileSync(folder.file('around-us'), QUALITY);
    const planned = await run('around-us', '--dry-run');
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect(planned.stdout).toBe((await run('map', 'around-us', '--dry-run')).stdout);
    mkdirSync(folder.file('maps'));
    for (const word of ['maps', 'none', 'x'.repeat(5000)]) await expectRefusal([word], 'unknown-command');
  });

  it('names the nearest flag, one that its help leaves out too', async () => {
    write(QUALITY);
    const args = ['map', 'terrain.toml', '--max-dept', '2'];
    await expectRefusal(args, 'unknown-option', 'Try --max-depth;');
  });

  it('refuses to draw to standard output, which has what the crawl tells', async () => {
    write(QUALITY);
    await expectRefusal(['map', 'terrain.toml', '--html', '-'], 'usage', 'sumi export --format html');
  });

  const exclusive: [string, string][] = [
    ['--fresh', '--resume'],
    ['--dry-run', '--stats'],
    ['--dry-run', '--export-summary'],
    ['--dry-run', '--html=x.html'],
    ['--stats', '--export-summary'],
    ['--fresh', '--stats'],
    ['--fresh', '--export-summary'],
    ['--resume', '--stats'],
    ['-q', '-v'],
  ];
  for (const [one, other] of exclusive) {
    it(`refuses ${one} together with ${other}`, async () => {
      write(QUALITY);
      const told = await expectRefusal(['map', 'terrain.toml', one, other], 'usage', 'cannot be used with');
      for (const flag of [one, other]) expect(told).toContain(flag.split('=')[0]);
    });
  }

  it('refuses to read a map that was never made', async () => {
    write(QUALITY);
    for (const flag of ['--stats', '--export-summary'])
      await expectRefusal(['terrain.toml', flag], 'db-missing', 'sumi.db');
  });

  it('refuses places that cannot be written, before anything is asked', async () => {
    write(`${QUALITY}[output]\nsummary-path = "no/such/folder.md"\n`);
    await expectRefusal(['terrain.toml'], 'export-unwritable', 'no/such/folder.md', 'folder does not exist');
    write(QUALITY);
    await expectRefusal(['terrain.toml', '--html', '.'], 'export-unwritable', 'it is a directory');
  });
});

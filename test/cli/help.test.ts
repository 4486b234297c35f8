import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { isOptionName, OPTIONS } from '../../src/config/option-table.ts';
import { SUGGESTED } from '../../src/config/other-words.ts';
import { sumi } from './run-sumi.ts';

const COMMANDS = [
  'crawl',
  'map',
  'resume',
  'stats',
  'pages',
  'changes',
  'compare',
  'links',
  'export',
  'reclassify',
  'index',
  'sitemap',
  'sql',
  'hosts',
  'runs',
  'worker',
  'report',
  'workers',
  'cat',
  'why',
  'audit',
  'copy',
  'forget',
  'watch',
  'serve',
  'mcp',
  'token',
  'project',
  'config',
  'demo',
];

describe('help', () => {
  it('lists every command with a line about it, and examples', async () => {
    const { code, stdout } = await sumi(['--help']);
    expect(code).toBe(0);
    for (const name of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${name} {2,}\\w`, 'm'));
    expect(stdout).toContain('Examples:');
  });

  it('says the same about a command in the list and in its own help', async () => {
    const list = (await sumi(['--help'])).stdout;
    for (const name of COMMANDS) {
      const { code, stdout } = await sumi([name, '--help']);
      expect(code).toBe(0);
      const about = new RegExp(`^ {2}${name} {2,}(.*)$`, 'm').exec(list)![1];
      expect(stdout).toContain(about);
      expect((await sumi(['help', name])).stdout).toBe(stdout);
    }
  });

  it('says nothing twice', async () => {
    for (const name of COMMANDS) {
      const lines = (await sumi([name, '--help'])).stdout
        .split('\n')
        .filter((line) => line.trim().length > 40);
      expect(lines, name).toEqual([...new Set(lines)]);
    }
  });

  it('explains every flag that programs rely on', async () => {
    const { stdout } = await sumi(['crawl', '--help']);
    const flags =
      '--db --config --profile --max-pages --max-depth --delay --concurrency --per-host --include --exclude ' +
      '--include-mode --preset --allowed-hosts --project --resolve --user-agent --bodies --fetch-only --urls ' +
      '--no-robots --fresh --json -q -v --store --lease-seconds --isolated --meta';
    for (const flag of flags.split(' ')) expect(stdout).toMatch(new RegExp(`^ {2,}(-\\w, )?${flag}\\b`, 'm'));
  });

  it('shows --store beside --db in every command that has a store', async () => {
    for (const name of COMMANDS.filter((name) => !['demo', 'copy', 'worker', 'sql'].includes(name))) {
      const { stdout } = await sumi([name, '--help']);
      expect([name, stdout]).toEqual([
        name,
        expect.stringMatching(/^ +--db <FILE> .*\n(?: {10,}.*\n)* +--store <URL> /m),
      ]);
    }
  });

  it('says what a project is where no start host is given', async () => {
    for (const [name, words] of [
      ['map', 'Name of the map'],
      ['reclassify', 'Name of the map'],
      ['export', 'Which project'],
    ]) {
      const { stdout } = await sumi([name, '--help']);
      expect(stdout).toMatch(new RegExp(`--project <NAME> +${words}`));
      expect(stdout).not.toContain('start hosts');
    }
  });

  it('is wrong usage to give no command, and shows the help', async () => {
    const { code, stderr } = await sumi([]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Usage: sumi')]);
  });

  it('is one program under two names', () => {
    const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: Record<string, string> };
    expect(bin.sumi).toBe(bin['sumi-ripple']);
    const first = spawnSync(process.execPath, [bin.sumi, '--version'], { encoding: 'utf8' });
    expect(first.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

/** What only who wrote the program knows, or what nobody can know who has not read a specification. */
const INTERNAL_WORDS =
  /claim|settl|\bleas(e|ed|es)\b|frontier|fencing|\bshard|corpus|breaker|\bprob(e|es|ed|ing)\b|\bdrain|(?<![\d,])00[0-4]\b|appendix|specification|keyset|\boffer|candidate|reconsider|heartbeat|partition|normaliz|in any spelling|unless said/i;

describe('help for who is new', () => {
  const help = new Map<string, string>();
  beforeAll(async () => {
    for (const name of COMMANDS) help.set(name, (await sumi([name, '--help'])).stdout);
  });

  /** By flag: its line and those below it, up to the next flag. */
  function flagsOf(text: string): Map<string, string> {
    const entries = text.matchAll(/^ {2}(?:-\w, )?--([\w-]+)[^\n]*\n(?: {5,}[^\n]*\n)*/gm);
    return new Map([...entries].map(([entry, flag]) => [flag, entry.replace(/\s+/g, ' ')]));
  }

  it('shows the default of every option, unless its sentence says what holds without it', () => {
    let seen = 0;
    const missing: string[] = [];
    for (const [command, text] of help) {
      for (const [flag, entry] of flagsOf(text)) {
        const isOwn =
          (['changes', 'compare', 'export'].includes(command) && flag === 'format') ||
          ['sitemap fresh', 'report json', 'audit json', 'copy json', 'sql json'].includes(
            `${command} ${flag}`,
          );
        const name = flag.replace(/^no-/, '');
        if (!isOptionName(name) || isOwn) continue;
        if (/without (it|them)\b/i.test(OPTIONS[name].doc)) continue;
        if (!/\(default: [^)]+\)( |$)/.test(entry)) missing.push(`${command} --${flag}: ${entry}`);
        seen++;
      }
    }
    expect(missing).toEqual([]);
    expect(seen).toBeGreaterThan(350);
    const crawl = flagsOf(help.get('crawl')!);
    expect(crawl.get('delay')).toContain(
      '(default: 0.5 s; terrain, sql: 1 s; conservative: 2 s; aggressive: 0.2 s)',
    );
    expect(crawl.get('robots-ttl')).toContain('(default: 1 d)');
    expect(crawl.get('max-pages')).toContain('(default: none)');
    expect(crawl.get('store-text')).toContain('(default: on; terrain: off)');
    expect(crawl.get('no-robots')).toContain('(default: --robots)');
    expect(flagsOf(help.get('pages')!).get('limit')).toContain('(default: all)');
  });

  it('fits into 80 columns, defaults included', () => {
    for (const [command, text] of help)
      expect(
        text.split('\n').filter((line) => line.length > 80 && !line.includes('://')),
        command,
      ).toEqual([]);
  });

  it('has no words that only we know', async () => {
    help.set('', (await sumi(['--help'])).stdout);
    for (const [command, text] of help) {
      const words = text.replace(/--[\w-]+|<[^>]*>|SUMI_\w+/g, '');
      expect(
        words.split('\n').filter((line) => INTERNAL_WORDS.test(line)),
        command,
      ).toEqual([]);
    }
  });

  it('keeps within 80 columns', async () => {
    help.set('', (await sumi(['--help'])).stdout);
    for (const [command, text] of help)
      expect(
        text.split('\n').filter((line) => line.length > 80),
        command,
      ).toEqual([]);
  });

  it('has the commands in groups, and README.md has the same groups with the same commands', async () => {
    const text = (await sumi(['--help'])).stdout;
    const groups = [...text.matchAll(/^(\w[^:\n]*):\n((?: {2}[a-z]+ {2,}.*\n)+)/gm)]
      .map(([, title, lines]) => [title, [...lines.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name)])
      .filter(([title]) => title !== 'Help');
    expect(groups.map(([title]) => title)).toEqual([
      'Crawl',
      'Look',
      'Compare',
      'Export',
      'Keep fresh',
      'Serve',
      'Operate',
    ]);
    expect(groups.flatMap(([, names]) => names).sort()).toEqual([...COMMANDS].sort());
    const readme = readFileSync('README.md', 'utf8');
    const inReadme = [...readme.matchAll(/^\| \*\*(.+)\*\* \| \|\n((?:\| `sumi .*\n)+)/gm)].map(
      ([, title, lines]) => [title, [...lines.matchAll(/^\| `sumi (\w+)/gm)].map(([, name]) => name)],
    );
    expect(inReadme).toEqual(groups);
  });
});

describe('a name that is not ours', () => {
  it.each([
    ['crawl', '--depth', '--max-depth'],
    ['crawl', '--limit', '--max-pages'],
    ['crawl', '--threads', '--concurrency'],
    ['crawl', '--rate', '--delay'],
    ['crawl', '--throttle', '--delay'],
    ['crawl', '--ignore-robots', '--no-robots'],
    ['crawl', '--output', '--db'],
    ['crawl', '-o', '--db'],
    ['crawl', '--useragent', '--user-agent'],
    ['crawl', '--max-retries', '--retries'],
    ['crawl', '--max-page', '--max-pages'],
    ['export', '--output', '--out'],
    ['report', '--output', '--html'],
    ['report', '--out', '--html'],
    // The database is what is read there.
    ['hosts', '--output', '--help'],
    ['pages', '--max-pages', '--limit'],
    ['pages', '--domain', '--host'],
    ['pages', '--dead-links', '--broken'],
    ['links', '--max', '--limit'],
    // Nothing is near: no name is better than any.
    ['crawl', '--zzzzz', '--help'],
  ])('sumi %s %s is answered by %s', async (command, flag, ours) => {
    const { code, stderr } = await sumi([command, flag, '3']);
    expect(code).toBe(2);
    expect(stderr).toContain(`Try ${ours};`);
  });

  it.each([
    ['broken', 'pages --broken'],
    ['dead-links', 'links --broken'],
    ['list', 'pages'],
    ['status', 'stats'],
    ['diff', 'changes'],
    ['crwal', 'crawl'],
    ['xyzzy', 'help'],
  ])('sumi %s is answered by sumi %s', async (name, ours) => {
    const { code, stderr } = await sumi([name]);
    expect(code).toBe(2);
    expect(stderr).toContain(`Try \`sumi ${ours}\`;`);
  });

  it('is answered by options that some command has, and by commands that there are', () => {
    const { flags, commands } = SUGGESTED;
    // Flags that commands have for themselves.
    const own = ['limit', 'out', 'host', 'broken', 'status', 'state', 'html', 'run'];
    const known = (flag: string) => isOptionName(flag.replace(/^no-/, '')) || own.includes(flag);
    expect(flags.filter((flag) => !known(flag))).toEqual([]);
    expect(commands.map((words) => words.split(' ')[0]).filter((name) => !COMMANDS.includes(name))).toEqual(
      [],
    );
  });
});

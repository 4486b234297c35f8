import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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
  'sitemap',
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
      const lines = (await sumi([name, '--help'])).stdout.split('\n').filter((line) => line.length > 40);
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
    for (const name of COMMANDS.filter((name) => name !== 'demo' && name !== 'copy' && name !== 'worker')) {
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

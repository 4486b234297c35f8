// Runs every recipe of README.md with the built command, against a shop on loopback, and compares what it prints.
// `npm test` builds before it comes here.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startSession } from '../docs/serve-session.ts';
import { blocksOf, runStep, type Step, stepsOf, withoutTimes } from './recipes.ts';
import { SHOP_HOSTS, type ShopSite, serveShop } from './shop-site.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
/** `sumi sql` takes no addresses from the environment. */
const MADE_UP_WEB = join(root, 'test/docs/made-up-web.cjs');
const START = 'http://shop.example/';
const DAY_MS = 86_400_000;

let shop: ShopSite;
let top: string;
let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  shop = await serveShop();
  top = mkdtempSync(join(tmpdir(), 'sumi-readme-'));
  mkdirSync(join(top, 'bin'));
  writeFileSync(
    join(top, 'bin/sumi'),
    `#!/bin/sh\nexec '${process.execPath}' -r '${MADE_UP_WEB}' '${root}/dist/sumi.cjs' "$@"\n`,
  );
  chmodSync(join(top, 'bin/sumi'), 0o755);
  env = {
    PATH: `${join(top, 'bin')}:${process.env.PATH}`,
    HOME: top,
    SUMI_RESOLVE: SHOP_HOSTS.map((name) => `${name}=127.0.0.1:${shop.port}`).join(','),
    MADE_UP_WEB: [shop.port, ...SHOP_HOSTS].join(' '),
    // One request at a time: pages are found in the same order each time.
    SUMI_CONCURRENCY: '1',
  };
});

beforeEach(() => {
  // A loopback site needs no pause.
  env.SUMI_DELAY = '0';
  folder = mkdtempSync(join(top, 'recipe-'));
  shop.setWeek(1);
});

afterAll(async () => {
  await shop.close();
  rmSync(top, { recursive: true });
});

const run = (command: string) => runStep(command, folder, env);

async function expectSteps(steps: readonly Step[]): Promise<void> {
  expect(steps.length).toBeGreaterThan(0);
  for (const { command, output } of steps)
    expect(withoutTimes(await run(command)), command).toBe(withoutTimes(output));
}

it('audits a site', async () => {
  const [block] = blocksOf(readme, 'Audit a site');
  await expectSteps(stepsOf(block.text));
});

it('tells what changed since the last crawl', async () => {
  const [block] = blocksOf(readme, 'Watch for changes');
  await run(`sumi crawl ${START} --quiet`);
  shop.setWeek(2);
  await expectSteps(stepsOf(block.text));
});

it('watches a site: one round, a day after a crawl', async () => {
  const [, block] = blocksOf(readme, 'Watch for changes');
  const [{ command, output }] = stepsOf(block.text);
  await run(`sumi crawl ${START} --quiet`);
  for (const table of ['fetched', 'visit'])
    await run(`sqlite3 sumi.db "UPDATE ${table} SET visited_at = visited_at - ${DAY_MS}"`);
  shop.setWeek(2);
  const lines = (text: string) => withoutTimes(text).split('\n').sort();
  expect(lines(await run(`${command} --once`))).toEqual(lines(output));
});

it('maps a field', async () => {
  const [file, commands] = blocksOf(readme, 'Map a field');
  expect(file.language).toBe('toml');
  writeFileSync(join(folder, 'terrain.toml'), file.text);
  // The least delay of a map.
  env.SUMI_DELAY = '0.1';
  await expectSteps(stepsOf(commands.text));
  expect(readFileSync(join(folder, 'map.html'), 'utf8')).toContain('museum.example');
});

it('answers SQL', async () => {
  await run(`sumi crawl ${START} --quiet`);
  shop.setWeek(2);
  await run(`sumi crawl ${START} --quiet`);
  for (const { text } of blocksOf(readme, 'Work in SQL')) await expectSteps(stepsOf(text));
});

it('runs in a TypeScript program', async () => {
  const [program, output] = blocksOf(readme, 'Embed in TypeScript');
  expect(program.language).toBe('ts');
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/sumi-ripple'));
  writeFileSync(join(folder, 'crawl.mjs'), program.text);
  expect(withoutTimes(await run(`'${process.execPath}' crawl.mjs`))).toBe(withoutTimes(output.text));
});

it('serves programs', async () => {
  const [block] = blocksOf(readme, 'Serve programs and agents');
  const session = await startSession();
  try {
    const steps = stepsOf(block.text);
    expect(steps.length).toBeGreaterThan(4);
    for (const { command, output } of steps) {
      const { text, isRight } = await session.run(command, output);
      if (!isRight) expect(text, command).toBe(output);
    }
  } finally {
    await session.close();
  }
}, 60_000);

it('keeps bodies and writes other formats', async () => {
  const [block] = blocksOf(readme, 'Archive');
  const steps = stepsOf(block.text);
  await run(steps[0].command);
  shop.setWeek(2);
  await expectSteps(steps);
});

it('names each command once, in the groups of sumi --help', async () => {
  const help = await run('sumi --help');
  const table = readme.slice(readme.indexOf('\n## Commands\n'));
  const groups = [...table.matchAll(/^\| \*\*([\w ]+)\*\* \| \|$/gm)].map(([, name]) => name);
  expect(groups.length).toBeGreaterThan(5);
  const found = groups.map((name) => help.indexOf(`\n${name}:`));
  expect(found).toEqual([...found].sort((a, b) => a - b));
  expect(found).not.toContain(-1);
  for (const [index, name] of groups.entries()) {
    const rows = table.slice(table.indexOf(`| **${name}** |`) + '| **'.length).split('| **')[0];
    const listed = [...rows.matchAll(/^\| `sumi ([a-z]+)/gm)].map(([, command]) => command);
    const part = help.slice(found[index] + 1, found[index + 1] ?? help.length).split('\n\n')[0];
    const helped = [...part.matchAll(/^ {2}([a-z]+) /gm)].map(([, command]) => command);
    expect(listed, name).toEqual(helped.filter((command) => command !== 'help'));
  }
});

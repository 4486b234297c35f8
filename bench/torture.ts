// kill -9 at random moments, going on each time with the same command: the final rows must equal those of an
// undisturbed crawl, only pages in flight or in the open commit window may be fetched again, and no host may be asked
// sooner than its delay after a restart. The server's log, kept by another process, is the judge.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Sqlite from 'better-sqlite3';
import { inTemporaryFolder, plainEnvironment, readFromSumi, SUMI } from './run-sumi.ts';
import { atLeast, atMost, type Row, type Scenario, shown, toMarkdown } from './scenario.ts';
import type { SeenRequest } from './site-server.ts';
import { type SiteProcess, startSite } from './start-site.ts';

export interface TortureOptions {
  kills: number;
  pages: number;
  hosts: number;
  /** Longer than the command takes to start, else a restart could not be too early. */
  delaySeconds: number;
  concurrency: number;
  seed: number;
  /** A map instead of a crawl: so many hosts of each list, the rest is discovered. */
  lists?: { quality: number; blacklist: number; stub: number };
}

export interface TortureReport {
  kills: number;
  requests: number;
  /** Rows of pages and links that are in one crawl only, or differ. */
  differences: string[];
  pagesCompared: number;
  linksCompared: number;
  /** Depths per origin, in maps. */
  depthsCompared: number;
  fetchedTwice: number;
  /** The most pages that one kill cost, and what one kill may cost. */
  worstKill: number;
  worstKillBound: number;
  /** How long before the kill a page had been asked that was then fetched again. */
  oldestRefetchMs: number;
  /** Gaps under 0.95 of the delay, those across a kill counted apart. */
  shortGapsAcrossKills: number;
  shortGaps: number;
  smallestGapAcrossKillMs: number;
  lastExitCode: number;
}

/** Settlements in one commit at most (DESIGN section 5). */
const COMMIT_WINDOW = 256;
const PAGE_FIELDS = ['url', 'state', 'status_code', 'title', 'content_hash', 'depth'];

/** A small seeded source, so that a run's moments can be asked for again. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The command that crawls the site into a file, or maps it. */
function commandFor(
  site: SiteProcess,
  folder: string,
  { lists }: TortureOptions,
): (file: string, rest: readonly string[]) => string[] {
  const start = lists === undefined ? ['crawl', ...site.origins.map((origin) => `${origin}/`)] : ['map'];
  if (lists !== undefined) {
    const terrain = join(folder, 'terrain.toml');
    writeFileSync(terrain, terrainFile(site.origins, lists));
    start.push(terrain);
  }
  return (file, rest) => [SUMI, ...start, '--db', file, ...rest, '-q'];
}

function terrainFile(
  origins: readonly string[],
  { quality, blacklist, stub }: Required<TortureOptions>['lists'],
): string {
  const entry = (list: string, origin: string, rest = '') =>
    `[[${list}]]\ndomain = "${new URL(origin).hostname}"\n${rest}`;
  const shut = quality + blacklist;
  return [
    '[crawler]\nmax-depth = 3\nallow-http = true\n',
    ...origins.slice(0, quality).map((origin) => entry('quality', origin, `seeds = ["${origin}/"]\n`)),
    ...origins.slice(quality, shut).map((origin) => entry('blacklist', origin)),
    ...origins.slice(shut, shut + stub).map((origin) => entry('stub', origin)),
  ].join('\n');
}

/** One life of the command: to its own end, or to `until` and then kill -9. Answers the exit code, null when killed. */
async function live(args: readonly string[], until: Promise<unknown> | undefined): Promise<number | null> {
  const child = spawn(process.execPath, args, { env: plainEnvironment(), stdio: ['ignore', 'ignore', 2] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  if (until !== undefined) {
    await Promise.race([until, ended]);
    child.kill('SIGKILL');
  }
  return ended;
}

const after = (delayMs: number) => new Promise<void>((resolve) => setTimeout(resolve, delayMs));

/** Mostly after some more requests, so that all stages of a crawl are hit; one in five by time, to hit the start. */
async function randomMoment(
  site: SiteProcess,
  random: () => number,
  seen: number,
  most: number,
): Promise<void> {
  if (random() < 0.2) {
    await after(random() * 500);
    return;
  }
  const requests = seen + 1 + Math.floor(random() * most);
  const extraMs = random() * 20;
  await site.reached(requests);
  await after(extraMs);
}

interface Disturbed {
  /** Log lengths at the kills. */
  marks: number[];
  lastExitCode: number;
}

async function disturb(
  site: SiteProcess,
  args: readonly string[],
  options: TortureOptions,
): Promise<Disturbed> {
  const random = createRandom(options.seed);
  const { pages, hosts, lists } = options;
  // Pages of hosts that are never asked are not to be waited for.
  const askable = Math.floor(pages * (1 - ((lists?.blacklist ?? 0) + (lists?.stub ?? 0)) / hosts));
  const marks: number[] = [];
  while (marks.length < options.kills) {
    const log = await site.log();
    const fetched = new Set(log.map(({ host, path }) => `${host}${path}`)).size;
    // Spread over what is left, so that the last kill still finds a crawl to kill.
    const most = Math.max(1, (2 * (askable - fetched)) / (options.kills - marks.length + 1));
    const exitCode = await live(args, randomMoment(site, random, log.length, most));
    if (exitCode !== null) return { marks, lastExitCode: exitCode };
    marks.push(await site.mark());
  }
  return { marks, lastExitCode: (await live(args, undefined)) ?? -1 };
}

async function readRows(file: string): Promise<{ pages: string[]; links: string[]; depths: string[] }> {
  const read = async (list: string) =>
    (await readFromSumi([list, '--db', file, '--format', 'jsonl']))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const pages = (await read('pages')).map((row) => JSON.stringify(PAGE_FIELDS.map((field) => row[field])));
  // Of a link the two addresses count; ids and runs differ between two databases by right.
  const links = (await read('links')).map((row) =>
    JSON.stringify(
      Object.values(row).filter((value) => typeof value === 'string' && value.startsWith('http')),
    ),
  );
  return { pages: pages.sort(), links: links.sort(), depths: readDepths(file).sort() };
}

function readDepths(file: string): string[] {
  const db = new Sqlite(file, { readonly: true });
  try {
    return db
      .prepare(
        `SELECT d.quality_origin || ' ' || p.url || ' ' || d.depth FROM page_depths d JOIN pages p ON p.id = d.page_id
         WHERE EXISTS (SELECT 1 FROM origin)`,
      )
      .pluck()
      .all() as string[];
  } finally {
    db.close();
  }
}

/** What is in one list and not in the other, counting how often. */
function differenceOf(expected: readonly string[], found: readonly string[]): string[] {
  const balance = new Map<string, number>();
  for (const row of expected) balance.set(row, (balance.get(row) ?? 0) + 1);
  for (const row of found) balance.set(row, (balance.get(row) ?? 0) - 1);
  return [...balance].filter(([, n]) => n !== 0).map(([row, n]) => `${n > 0 ? 'missing' : 'extra'} ${row}`);
}

function judgeRefetches(log: readonly SeenRequest[], marks: readonly number[]) {
  const lastAt = new Map<string, number>();
  const perKill = new Map<number, number>();
  let oldestRefetchMs = 0;
  let fetchedTwice = 0;
  for (const [at, { host, method, path, atMs }] of log.entries()) {
    if (path === '/robots.txt' || method === 'HEAD') continue;
    const page = `${host}${path}`;
    const previous = lastAt.get(page);
    lastAt.set(page, at);
    if (previous === undefined) continue;
    fetchedTwice++;
    // The kill that lost it is the first one after its last fetch; none between the two is a plain double fetch.
    const kill = marks.findIndex((mark) => mark > previous && mark <= at);
    perKill.set(kill, (perKill.get(kill) ?? 0) + 1);
    const killedMs = kill < 0 ? atMs : log[marks[kill] - 1].atMs;
    const ageMs = kill < 0 ? Number.POSITIVE_INFINITY : killedMs - log[previous].atMs;
    oldestRefetchMs = Math.max(oldestRefetchMs, ageMs);
  }
  return { fetchedTwice, oldestRefetchMs, worstKill: Math.max(0, ...perKill.values()) };
}

function judgeGaps(log: readonly SeenRequest[], marks: readonly number[], delayMs: number) {
  const last = new Map<number, number>();
  const report = { shortGaps: 0, shortGapsAcrossKills: 0, smallestGapAcrossKillMs: Number.POSITIVE_INFINITY };
  for (const [at, { host, atMs }] of log.entries()) {
    const previous = last.get(host);
    last.set(host, at);
    if (previous === undefined) continue;
    const isAcross = marks.some((mark) => mark > previous && mark <= at);
    // What the busy server itself saw late is nobody's haste (test/faults/beats.ts); a restart takes longer than that.
    const gapMs = atMs - (isAcross ? log[previous].atMs : log[previous].earliestMs);
    if (isAcross) report.smallestGapAcrossKillMs = Math.min(report.smallestGapAcrossKillMs, gapMs);
    if (gapMs >= 0.95 * delayMs) continue;
    if (isAcross) report.shortGapsAcrossKills++;
    else report.shortGaps++;
  }
  return report;
}

export async function torture(options: TortureOptions): Promise<TortureReport> {
  const { pages, hosts, seed, concurrency, delaySeconds } = options;
  const site = await startSite({ seed, pages, hosts }, true);
  try {
    return await inTemporaryFolder(async (folder) => {
      const [calm, rough] = [join(folder, 'calm.db'), join(folder, 'rough.db')];
      const command = commandFor(site, folder, options);
      // A map's delay has a floor.
      const fast =
        options.lists === undefined
          ? ['--delay', '0', '--per-host', '4']
          : ['--delay', '0.1', '--concurrency', '50'];
      const calmCode = await live(command(calm, fast), undefined);
      if (calmCode !== 0) throw new Error(`the undisturbed crawl ended with ${calmCode}`);
      await site.forget();
      const flags = ['--delay', `${delaySeconds}`, '--per-host', '1', '--concurrency', `${concurrency}`];
      const { marks, lastExitCode } = await disturb(site, command(rough, flags), options);
      const log = await site.log();
      const [expected, found] = [await readRows(calm), await readRows(rough)];
      return {
        kills: marks.length,
        requests: log.length,
        differences: [
          ...differenceOf(expected.pages, found.pages),
          ...differenceOf(expected.links, found.links),
          ...differenceOf(expected.depths, found.depths),
        ],
        pagesCompared: expected.pages.length,
        linksCompared: expected.links.length,
        depthsCompared: expected.depths.length,
        ...judgeRefetches(log, marks),
        worstKillBound: concurrency + COMMIT_WINDOW,
        ...judgeGaps(log, marks, delaySeconds * 1000),
        lastExitCode,
      };
    });
  } finally {
    await site.stop();
  }
}

/** A few kills of a small site, for the test command. */
export const SHORT_TORTURE: TortureOptions = {
  kills: 4,
  pages: 240,
  hosts: 30,
  delaySeconds: 0.4,
  concurrency: 60,
  seed: 7,
};

/** The same for a map. */
export const SHORT_MAP_TORTURE: TortureOptions = {
  ...SHORT_TORTURE,
  kills: 3,
  delaySeconds: 0.4,
  lists: { quality: 3, blacklist: 2, stub: 2 },
};

const FULL_TORTURE: TortureOptions = {
  kills: 30,
  pages: 2000,
  hosts: 50,
  delaySeconds: 0.5,
  concurrency: 100,
  seed: 20_240_601,
};

const FULL_LISTS = { quality: 5, blacklist: 4, stub: 4 };

function toRows(report: TortureReport, options: TortureOptions): Row[] {
  for (const difference of report.differences.slice(0, 20)) process.stderr.write(`  ${difference}\n`);
  return [
    atLeast('kills -9 of a crawl under way', report.kills, options.kills),
    atMost('rows that differ from an undisturbed crawl', report.differences.length, 0),
    atLeast('pages compared', report.pagesCompared, options.pages),
    shown('links compared', report.linksCompared),
    atMost('pages fetched again after one kill, worst', report.worstKill, report.worstKillBound),
    atMost('... asked before the kill, oldest', report.oldestRefetchMs / 1000, 2, 's'),
    shown('pages fetched again, all kills', report.fetchedTwice),
    atMost('hosts asked too early after a restart', report.shortGapsAcrossKills, 0),
    atMost('other gaps under 0.95 of the delay, what the server saw late aside', report.shortGaps, 0),
    shown('smallest gap across a kill', report.smallestGapAcrossKillMs / 1000, 's'),
    atMost('exit code at the end', report.lastExitCode, 0),
    shown('seed', `${options.seed}`),
  ];
}

export const scenario: Scenario = {
  name: 'torture',
  about: 'kill -9 at 30 random moments of a 2,000-page crawl (a few minutes)',
  async run({ quick }) {
    const options = quick
      ? SHORT_TORTURE
      : { ...FULL_TORTURE, seed: Number(process.env.TORTURE_SEED ?? FULL_TORTURE.seed) };
    const map = quick ? SHORT_MAP_TORTURE : { ...options, lists: FULL_LISTS };
    return [
      ...toRows(await torture(options), options),
      ...toRows(await torture(map), { ...map, pages: map.pages / 2 }).map((row) => ({
        ...row,
        figure: `map: ${row.figure}`,
      })),
    ];
  },
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const rows = await scenario.run({ quick: process.argv.includes('--quick') });
  console.log(toMarkdown([{ scenario: scenario.name, rows }]));
  process.exitCode = rows.some((row) => row.verdict === 'FAIL') ? 1 : 0;
}

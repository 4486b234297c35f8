// kill -9 at random moments, going on each time with the same command: the final rows must equal those of an
// undisturbed crawl, only pages in flight or in the open commit window may be fetched again, and no host may be asked
// sooner than its delay after a restart. The server's log, kept by another process, is the judge.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
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
}

export interface TortureReport {
  kills: number;
  requests: number;
  /** Rows of pages and links that are in one crawl only, or differ. */
  differences: string[];
  pagesCompared: number;
  linksCompared: number;
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

const crawlArgs = (site: SiteProcess, file: string, rest: readonly string[]) => [
  SUMI,
  'crawl',
  ...site.origins.map((origin) => `${origin}/`),
  '--db',
  file,
  ...rest,
  '-q',
];

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
  const marks: number[] = [];
  while (marks.length < options.kills) {
    const log = await site.log();
    const fetched = new Set(log.map(({ host, path }) => `${host}${path}`)).size;
    // Spread over what is left, so that the last kill still finds a crawl to kill.
    const most = Math.max(1, (2 * (options.pages - fetched)) / (options.kills - marks.length + 1));
    const exitCode = await live(args, randomMoment(site, random, log.length, most));
    if (exitCode !== null) return { marks, lastExitCode: exitCode };
    marks.push(await site.mark());
  }
  return { marks, lastExitCode: (await live(args, undefined)) ?? -1 };
}

async function readRows(file: string): Promise<{ pages: string[]; links: string[] }> {
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
  return { pages: pages.sort(), links: links.sort() };
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
  for (const [at, { host, path, atMs }] of log.entries()) {
    if (path === '/robots.txt') continue;
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
    const gapMs = atMs - log[previous].atMs;
    const isAcross = marks.some((mark) => mark > previous && mark <= at);
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
      const calmCode = await live(crawlArgs(site, calm, ['--delay', '0', '--per-host', '4']), undefined);
      if (calmCode !== 0) throw new Error(`the undisturbed crawl ended with ${calmCode}`);
      await site.forget();
      const flags = ['--delay', `${delaySeconds}`, '--per-host', '1', '--concurrency', `${concurrency}`];
      const { marks, lastExitCode } = await disturb(site, crawlArgs(site, rough, flags), options);
      const log = await site.log();
      const [expected, found] = [await readRows(calm), await readRows(rough)];
      return {
        kills: marks.length,
        requests: log.length,
        differences: [
          ...differenceOf(expected.pages, found.pages),
          ...differenceOf(expected.links, found.links),
        ],
        pagesCompared: expected.pages.length,
        linksCompared: expected.links.length,
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

const FULL_TORTURE: TortureOptions = {
  kills: 30,
  pages: 2000,
  hosts: 50,
  delaySeconds: 0.5,
  concurrency: 100,
  seed: 20_240_601,
};

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
    atMost('other gaps under 0.95 of the delay', report.shortGaps, 0),
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
    return toRows(await torture(options), options);
  },
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const rows = await scenario.run({ quick: process.argv.includes('--quick') });
  console.log(toMarkdown([{ scenario: scenario.name, rows }]));
  process.exitCode = rows.some((row) => row.verdict === 'FAIL') ? 1 : 0;
}

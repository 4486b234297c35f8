// The judge of a crawl by many: the fake web's log, and beside it the history of leases that the database kept.
import { expect } from 'vitest';
import type { LoggedRequest } from '../../src/demo/serve-site.ts';
import type { Running } from '../cli/run-sumi.ts';
import type { FakeWeb } from '../web/fake-web.ts';
import { type Beats, earliestArrivals } from './beats.ts';
import { type CrewStore, isOwnedBy, type LeaseChange } from './crew.ts';

/** What a gap may fall short of the delay: sending and being seen are two moments. */
const TOLERANCE = 0.95;

/** No two requests to a host closer than the delay, whoever sent them. */
export function expectPolite(web: FakeWeb, beats: Beats, delayMs: number): void {
  const short: string[] = [];
  const last = new Map<number, { earliestMs: number; path: string }>();
  const arrivals = earliestArrivals(web.log, beats);
  for (const [i, { host, atMs, path }] of web.log.entries()) {
    const before = last.get(host);
    last.set(host, { earliestMs: arrivals[i], path });
    const gapMs = atMs - (before?.earliestMs ?? Number.NEGATIVE_INFINITY);
    if (gapMs < TOLERANCE * delayMs)
      short.push(`host ${host}: ${path} ${Math.round(gapMs)} ms after ${before!.path}`);
  }
  expect(short).toEqual([]);
  expect(last.size).toBeGreaterThan(0);
}

/** Every page of the web's graph was asked for. */
export function expectNoneLost(web: FakeWeb): void {
  const graph = web.graph!;
  const seen = new Set(web.log.map(({ host, path }) => `${host} ${path}`));
  const missing: string[] = [];
  for (let i = 0; i < graph.pages; i++)
    if (!seen.has(`${graph.hostOf(i)} ${graph.pathOf(i)}`))
      missing.push(`${graph.hostOf(i)} ${graph.pathOf(i)}`);
  expect(missing).toEqual([]);
}

/** Requests for pages that had been asked for before, each with whoever held the host at the time of the one before. */
async function repeats(web: FakeWeb, store: CrewStore): Promise<{ page: string; firstBy: string | null }[]> {
  const ownerAt = createOwnerAt(await store.leases());
  const seen = new Map<string, number>();
  const found: { page: string; firstBy: string | null }[] = [];
  for (const { host, path, atMs } of web.log) {
    if (path === '/robots.txt') continue;
    const page = `${host} ${path}`;
    const before = seen.get(page);
    if (before !== undefined)
      found.push({ page, firstBy: ownerAt(addressOf(web, host), before)?.owner ?? null });
    seen.set(page, atMs);
  }
  return found;
}

/** A page was asked for again only where the one who had asked for it died or lost its lease before it could commit. */
export async function expectRepeatsOnlyOf(
  web: FakeWeb,
  store: CrewStore,
  victims: readonly Running[],
): Promise<void> {
  const found = await repeats(web, store);
  expect(found.filter(({ firstBy }) => !victims.some((victim) => isOwnedBy(firstBy, victim)))).toEqual([]);
}

/** Every one of the requests was made while the worker had the host. */
export async function expectLeased(
  requests: readonly LoggedRequest[],
  store: CrewStore,
  beats: Beats,
  worker: Running,
): Promise<void> {
  const ownerAt = createOwnerAt(await store.leases());
  const unleased = requests.filter(({ atMs, localAddress }) => {
    const held = ownerAt(localAddress, atMs);
    return !isOwnedBy(held?.owner ?? null, worker) || toWall(beats.earliest(atMs, 1)) > held!.until!;
  });
  expect(unleased.map(({ localAddress, path }) => localAddress + path)).toEqual([]);
}

/** The log's times are the process's own. */
const toWall = (atMs: number) => performance.timeOrigin + atMs;
const addressOf = (web: FakeWeb, host: number) => new URL(web.origins[host]).hostname;

function createOwnerAt(changes: readonly LeaseChange[]) {
  const byHost = groupByHost(changes);
  return (host: string, atMs: number): LeaseChange | undefined =>
    byHost.get(host)?.findLast(({ at }) => at <= toWall(atMs));
}

function groupByHost(changes: readonly LeaseChange[]): Map<string, LeaseChange[]> {
  const groups = new Map<string, LeaseChange[]>();
  for (const change of changes) {
    const group = groups.get(change.host);
    if (group === undefined) groups.set(change.host, [change]);
    else group.push(change);
  }
  return groups;
}

/** The store's own account: nothing waits, nobody holds anything, every page is counted once. */
export async function expectSettled(store: CrewStore, web: FakeWeb): Promise<void> {
  expect(await store.rows('SELECT status, pages FROM runs')).toEqual([
    { status: 'completed', pages: web.graph!.pages },
  ]);
  await expectSettledPages(store);
}

/** As above, where the number of pages is not the graph's. */
export async function expectSettledPages(store: CrewStore): Promise<void> {
  expect(await store.rows("SELECT url FROM pages WHERE state IN ('Queued', 'Fetching')")).toEqual([]);
  expect(await store.rows('SELECT name, lease_owner FROM host WHERE lease_owner IS NOT NULL')).toEqual([]);
  const { violations, details } = await store.audit();
  expect([violations, details]).toEqual([0, []]);
}

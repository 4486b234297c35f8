// Drives the seen-set and the frontier alone, through the store port: no network, no pages, only URLs. Runs as a
// program of its own (bundled by frontier.ts) and prints one JSON object:
//   frontier-driver fill FILE URLS      offers so many new URLs, some known ones, claims a few pages, closes
//   frontier-driver reopen FILE         opens the file again and claims a page
import type { Candidate } from '../src/frontier/candidate.ts';
import { PAGE_STATES } from '../src/frontier/page-state.ts';
import { systemClock } from '../src/primitives/clock.ts';
import { openStore } from '../src/store/open-store.ts';
import type { RunStore } from '../src/store/store-port.ts';

export interface Filled {
  urls: number;
  /** CPU of making the candidates alone, so that the store's own share can be told. */
  makingUs: number;
  newUs: number;
  lastSegmentUs: number;
  knownUs: number;
  claimed: number;
  claimUs: number;
  closeMs: number;
}

export interface Reopened {
  readyMs: number;
  knownUrls: number;
  claimed: number;
}

const HOSTS = 1000;
/** About as many as one page offers. */
const BATCH = 100;
/** Batches between commits: about what 256 settlements, the largest commit window, would offer. */
const COMMIT_EVERY = 100;
const SEGMENT = 1_000_000;
const LEASE_MS = 60_000;
const OWNER = 'bench';

/** Batch b belongs to one host, as the links of a page mostly do. */
function makeBatch(batch: number): Candidate[] {
  const host = `host-${batch % HOSTS}.example`;
  const first = Math.floor(batch / HOSTS) * BATCH;
  const candidates: Candidate[] = [];
  for (let n = first; n < first + BATCH; n++) {
    const url = `https://${host}/section-${n % 37}/page-number-${n}.html`;
    candidates.push({
      url,
      fetchUrl: url,
      host,
      depth: 3,
      priority: 1,
      state: PAGE_STATES.Queued,
      reason: null,
      onlyNofollow: false,
    });
  }
  return candidates;
}

async function cpuUs(work: () => unknown): Promise<number> {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return user + system;
}

async function openRun(file: string) {
  const opened = await openStore({
    address: file,
    clock: systemClock,
    onFailure: (error) => {
      throw error;
    },
  });
  const store = await opened.begin({
    project: 'frontier',
    owner: OWNER,
    configHash: 'bench',
    config: '{}',
    fresh: false,
    metadata: null,
    now: Date.now(),
  });
  return { opened, store };
}

async function claimSome(store: RunStore, hosts: number, perHost: number): Promise<number> {
  const leases = await store.frontier.lease(hosts, Date.now(), LEASE_MS);
  let claimed = 0;
  for (const lease of leases) {
    const { claims } = await store.frontier.claim(lease, perHost, Date.now());
    claimed += claims.length;
    await store.frontier.unclaim(lease, claims);
    await store.frontier.release(lease);
  }
  await store.flush();
  return claimed;
}

async function fill(file: string, urls: number): Promise<Filled> {
  const { opened, store } = await openRun(file);
  const batches = urls / BATCH;
  const offer = async (from: number, to: number) => {
    for (let batch = from; batch < to; batch++) {
      await store.frontier.offer(makeBatch(batch));
      if (batch % COMMIT_EVERY === COMMIT_EVERY - 1) await store.flush();
    }
  };
  let touched = 0;
  const makingUs = await cpuUs(() => {
    for (let batch = 0; batch < SEGMENT / BATCH; batch++) {
      // Reading a character makes V8 join the string, as the hash will have to.
      for (const { url } of makeBatch(batch)) touched += url.charCodeAt(url.length - 1);
    }
  });
  if (touched === 0) throw new Error('no candidate was made');
  const perSegment = Math.min(SEGMENT, urls) / BATCH;
  let [allUs, lastUs] = [0, 0];
  for (let from = 0; from < batches; from += perSegment) {
    lastUs = await cpuUs(() => offer(from, from + perSegment));
    allUs += lastUs;
    process.stderr.write(
      `  ${(from + perSegment) * BATCH} URLs: ${(lastUs / (perSegment * BATCH)).toFixed(2)} us\n`,
    );
  }
  const knownUs = await cpuUs(() => offer(0, perSegment));
  let claimed = 0;
  const claimedUs = await cpuUs(async () => {
    for (let round = 0; round < 10; round++) claimed += await claimSome(store, 100, 64);
  });
  const closing = performance.now();
  await store.run.finish('interrupted', Date.now(), null);
  await opened.close();
  return {
    urls,
    makingUs: makingUs / SEGMENT,
    newUs: allUs / urls,
    lastSegmentUs: lastUs / (perSegment * BATCH),
    knownUs: knownUs / (perSegment * BATCH),
    claimed,
    claimUs: claimedUs / Math.max(1, claimed),
    closeMs: performance.now() - closing,
  };
}

async function reopen(file: string): Promise<Reopened> {
  const began = performance.now();
  const { opened, store } = await openRun(file);
  const claimed = await claimSome(store, 1, 1);
  const readyMs = performance.now() - began;
  await opened.close();
  return { readyMs, knownUrls: store.start.knownUrls, claimed };
}

const [mode, file, urls] = process.argv.slice(2);
console.log(JSON.stringify(mode === 'fill' ? await fill(file, Number(urls)) : await reopen(file)));

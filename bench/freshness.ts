// The scheduler of revisits before its judge: speaks the line protocol of the freshness simulator on standard input and
// output, around the very plan the crawler uses. With --scale it measures instead what a page and an event cost at a
// million and at ten million pages.
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createRevisitPlan } from '../src/change/revisit/create-revisit-plan.ts';
import type { PageStates, RevisitKind, RevisitPlan, SavedPlan } from '../src/change/revisit/revisit-plan.ts';
import { seededRandom } from '../test/seeded-random.ts';
import { createMessageReader, type Message, type PageMessage, ProtocolError } from './freshness-messages.ts';

const DAY_MS = 86_400_000;
/** The simulator counts days from 0: any day will do, so long as dates before it are dates. */
const DAY_ZERO = Date.UTC(2024, 0, 1);
const at = (days: number) => DAY_ZERO + days * DAY_MS;

function loadPages(plan: RevisitPlan, pages: PageMessage[]): void {
  plan.load({
    host: pages.map(({ host }) => host),
    // They add up to one: as a mean of one they keep their digits.
    weight: pages.map(({ weight }) => weight * pages.length),
    depth: pages.map(({ depth }) => depth),
    lastVisit: pages.map(() => Number.NaN),
  });
  pages.forEach(({ lastFetch, lastModified }, page) => {
    if (lastFetch !== null) plan.observe(page, 'new', at(lastFetch), dated(lastModified));
  });
}

const dated = (lastModified: number | null) => (lastModified === null ? undefined : at(lastModified));

/** Answers the simulator until it says goodbye, or something that is no message: then it says so and is done. */
async function speak(kind: RevisitKind): Promise<void> {
  const say = (message: unknown) => process.stdout.write(`${JSON.stringify(message)}\n`);
  const pages: PageMessage[] = [];
  const visited = new Set<number>();
  const taken = new Set<number>();
  let plan: RevisitPlan | null = null;
  let hostCap: number | null = null;
  for await (const message of messages()) {
    if (message.type === 'init') {
      hostCap = message.hostCapPerTick;
      const random = seededRandom(1).next;
      plan = createRevisitPlan({ kind, visitsPerDay: message.budgetPerDay, random });
    } else if (message.type === 'page') {
      pages.push(message);
      if (message.lastFetch !== null) visited.add(pages.length - 1);
    } else if (plan === null) break;
    else if (message.type === 'ready') {
      loadPages(plan, pages);
      say({ type: 'ready' });
    } else if (message.type === 'tick') {
      // What was refused at the last tick got no result.
      for (const page of taken) plan.release(page);
      taken.clear();
      const now = at(message.t);
      for (const [page, lastModified] of message.signals) plan.signal(page, at(lastModified), now);
      const fetch = plan.next(now, message.k, hostCap === null ? undefined : () => hostCap ?? 0);
      const judged = plan;
      say({ type: 'fetch', fetch, pChanged: fetch.map((page) => judged.explain(page, now).chanceChanged) });
      for (const page of fetch) taken.add(page);
    } else if (message.type === 'results') {
      for (const [page, changed, lastModified] of message.results) {
        const outcome = !visited.has(page) ? 'new' : changed === 1 ? 'changed' : 'unchanged';
        plan.observe(page, outcome, at(message.t), dated(lastModified));
        visited.add(page);
        taken.delete(page);
      }
    } else break;
  }
}

/** Empty lines are passed over. Who is done listening does not wait for the other side to hang up. */
async function* messages(): AsyncGenerator<Message> {
  const read = createMessageReader();
  let number = 0;
  try {
    for await (const line of createInterface({ input: process.stdin })) {
      number++;
      if (line.trim() !== '') yield read(line);
    }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    refuse(`line ${number} ${error.message}`);
  } finally {
    process.stdin.destroy();
  }
}

function refuse(why: string): void {
  process.stderr.write(`bench:freshness: ${why}\n`);
  process.exitCode = 2;
}

/** Pages as a store would hand them over: visited in the last month, each with some evidence. */
function syntheticPages(count: number, hosts: number, random: () => number): PageStates {
  const numbers = (next: () => number) => Float64Array.from({ length: count }, next);
  return {
    host: numbers(() => Math.floor(random() * hosts)),
    weight: numbers(() => Math.exp(2 * random() - 1)),
    depth: numbers(() => Math.floor(7 * random())),
    lastVisit: numbers(() => at(-30 * random())),
    rateShape: numbers(() => 3 * random()),
    rateDays: numbers(() => 60 * random() ** 3),
    signalsInAll: numbers(() => Math.floor(10 * random())),
  };
}

/** Every second host has a sitemap that was found to be right: the share must not depend on the number of pages. */
function syntheticHosts(hosts: number): SavedPlan {
  const numbers = (next: (host: number) => number) =>
    Float64Array.from({ length: hosts }, (_, host) => next(host));
  return {
    price: null,
    priorShape: 0.6,
    priorDays: 6,
    hosts: {
      priorShape: numbers(() => 0.6),
      priorDays: numbers(() => 6),
      falseSignals: numbers(() => 10),
      testedSignals: numbers(() => 100),
      signalsSince: numbers((host) => (host % 2 === 0 ? at(-30) : Number.NaN)),
    },
  };
}

async function bytesHeld(collect: () => void): Promise<number> {
  // Again after a turn: array buffers are given back after the collection that finds them unused.
  for (let round = 0; round < 3; round++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Half a day in steps of a quarter of an hour: signals, pages asked for, and their visits. */
async function measureScale(
  pages: number,
  hosts: number,
  visits: number,
  collect: () => void,
): Promise<void> {
  const random = seededRandom(7).next;
  const before = await bytesHeld(collect);
  const plan = createRevisitPlan({
    kind: 'value',
    visitsPerDay: 2 * visits,
    random,
    saved: syntheticHosts(hosts),
  });
  for (let batch = 0; batch < 100; batch++) plan.load(syntheticPages(pages / 100, hosts, random));
  const loadStart = performance.now();
  plan.next(at(0), 0);
  const pricedIn = performance.now() - loadStart;
  const bytesAPage = ((await bytesHeld(collect)) - before) / pages;
  const steps = 48;
  const signalled = new Set<number>();
  let [events, changed] = [0, 0];
  // CPU, not the clock on the wall: other programs may run beside.
  const start = process.cpuUsage();
  for (let step = 1; step <= steps; step++) {
    const now = at(step / 96);
    for (let i = 0; i < visits / steps / 4; i++, events++) {
      const page = Math.floor(random() * pages);
      signalled.add(page);
      plan.signal(page, now - DAY_MS * random(), now);
    }
    for (const page of plan.next(now, visits / steps)) {
      const isChanged = signalled.delete(page) || random() < 0.3;
      changed += isChanged ? 1 : 0;
      plan.observe(page, isChanged ? 'changed' : 'unchanged', now);
      events += 2;
    }
  }
  const { user, system } = process.cpuUsage(start);
  const microseconds = (user + system) / events;
  const grown = ((await bytesHeld(collect)) - before) / pages;
  const line = { pages, hosts, events, changed, microsecondsAnEvent: +microseconds.toFixed(2) };
  const memory = {
    bytesAPage: +Math.max(bytesAPage, grown).toFixed(1),
    firstPricingMs: Math.round(pricedIn),
  };
  console.log(JSON.stringify({ ...line, ...memory }));
}

const KINDS: RevisitKind[] = ['value', 'score', 'bands'];
const kindAt = process.argv.indexOf('--revisit') + 1;
const kind = kindAt === 0 ? 'value' : KINDS.find((known) => known === process.argv[kindAt]);
if (kind === undefined)
  refuse(`--revisit cannot be ${process.argv[kindAt]}; expected one of ${KINDS.join(', ')}`);
else if (process.argv.includes('--scale')) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (const [pages, hosts] of [
    // Warms up the compiler.
    [100_000, 1000],
    [1_000_000, 10_000],
    [10_000_000, 100_000],
    [1_000_000, 1],
    [10_000_000, 1],
  ]) {
    await measureScale(pages, hosts, 96_000, collect);
  }
} else {
  await speak(kind);
}

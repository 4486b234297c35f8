// How long a big crawl takes, by events instead of pages: a host asks at most once a delay, a worker fetches at most so
// many pages a second and holds at most so many hosts. A worker's hosts share its speed evenly, so between two events
// (a host is drained, another is leased) every rate is constant and the sums are exact.
// Promises: the same shape gives the same answer. Never: the network, the disk, robots.txt beyond one slot a host.
import { MinHeap } from '../src/primitives/min-heap.ts';

export interface CrawlShape {
  pages: number;
  hosts: number;
  /** Pages of the host of rank r go by 1 / r^exponent. */
  exponent: number;
  /** No host gives more than this (max-domain-requests or the patience of its owner). */
  mostPagesPerHost: number;
  delaySeconds: number;
  workers: number;
  /** What one worker can do when no host holds it up. */
  pagesPerSecond: number;
  /** Hosts a worker holds at once (max-hosts). */
  leases: number;
  /** as-found: in random order. longest-first: the hosts with most pages waiting are leased first. */
  order: 'as-found' | 'longest-first';
}

export interface CrawlForecast {
  pages: number;
  seconds: number;
  /** All workers busy from the first second to the last. */
  workBoundSeconds: number;
  /** The biggest host, asked without a break. */
  hostBoundSeconds: number;
  /** From the moment 99 % of the pages were there. */
  tailSeconds: number;
  /** Hosts that were under way when 99 % of the pages were there. */
  tailHosts: number;
}

function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Pages a host, biggest first. The scale is searched so that the capped counts add up to `pages`. */
export function zipfPages(shape: Pick<CrawlShape, 'pages' | 'hosts' | 'exponent' | 'mostPagesPerHost'>) {
  const { pages, hosts, exponent, mostPagesPerHost } = shape;
  if (pages > hosts * mostPagesPerHost) throw new RangeError('so few hosts do not have so many pages');
  const weights = Float64Array.from({ length: hosts }, (_, rank) => (rank + 1) ** -exponent);
  const countOf = (weight: number, scale: number) =>
    Math.max(1, Math.min(mostPagesPerHost, Math.round(weight * scale)));
  let [low, high] = [0, (mostPagesPerHost + 1) * hosts ** exponent];
  for (let step = 0; step < 48; step++) {
    const scale = (low + high) / 2;
    let sum = 0;
    for (const weight of weights) sum += countOf(weight, scale);
    if (sum < pages) low = scale;
    else high = scale;
  }
  return weights.map((weight) => countOf(weight, high));
}

function shuffle(values: Float64Array): void {
  const random = createRandom(values.length);
  for (let last = values.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const kept = values[last];
    values[last] = values[other];
    values[other] = kept;
  }
}

/** One worker: `served` is how many pages each of its hosts got since the beginning, had it been there all the time. */
interface Worker {
  served: number;
  at: number;
  /** Keyed by the `served` at which a host is drained. */
  hosts: MinHeap<number>;
}

/** `ranked` are the pages of the hosts, biggest first. */
export function simulateCrawl(shape: CrawlShape, ranked: Float64Array = zipfPages(shape)): CrawlForecast {
  const counts = ranked.slice();
  const total = counts.reduce((sum, count) => sum + count, 0);
  const biggest = counts[0];
  if (shape.order === 'as-found') shuffle(counts);
  const workers: Worker[] = Array.from({ length: shape.workers }, () => ({
    served: 0,
    at: 0,
    hosts: new MinHeap<number>(),
  }));
  const rateOf = (worker: Worker) =>
    worker.hosts.size === 0 ? 0 : Math.min(1 / shape.delaySeconds, shape.pagesPerSecond / worker.hosts.size);
  let next = 0;
  // Leases are dealt out in turn: workers that start together find the same hosts waiting.
  for (let held = 0; held < shape.leases && next < counts.length; held++) {
    for (const worker of workers) {
      if (next < counts.length) worker.hosts.push(counts[next], next++);
    }
  }
  const forecast = { seconds: 0, tailAt: -1, tailHosts: 0, done: 0 };
  let totalRate = workers.reduce((sum, worker) => sum + rateOf(worker) * worker.hosts.size, 0);
  const endOf = (worker: Worker) => worker.at + (worker.hosts.peekKey() - worker.served) / rateOf(worker);
  for (;;) {
    let first: Worker | undefined;
    let firstEnd = Number.POSITIVE_INFINITY;
    for (const worker of workers) {
      if (worker.hosts.size === 0) continue;
      const end = endOf(worker);
      if (end < firstEnd) [first, firstEnd] = [worker, end];
    }
    if (first === undefined) break;
    const doneThen = forecast.done + (firstEnd - forecast.seconds) * totalRate;
    if (forecast.tailAt < 0 && doneThen >= total * 0.99) {
      forecast.tailAt = forecast.seconds + (total * 0.99 - forecast.done) / totalRate;
      forecast.tailHosts = workers.reduce((sum, worker) => sum + worker.hosts.size, 0);
    }
    totalRate -= rateOf(first) * first.hosts.size;
    first.served = first.hosts.peekKey();
    first.at = firstEnd;
    first.hosts.pop();
    if (next < counts.length) first.hosts.push(first.served + counts[next], next++);
    totalRate += rateOf(first) * first.hosts.size;
    forecast.seconds = firstEnd;
    forecast.done = doneThen;
  }
  return {
    pages: total,
    seconds: forecast.seconds,
    workBoundSeconds: total / (shape.workers * shape.pagesPerSecond),
    hostBoundSeconds: biggest * shape.delaySeconds,
    tailSeconds: forecast.seconds - forecast.tailAt,
    tailHosts: forecast.tailHosts,
  };
}

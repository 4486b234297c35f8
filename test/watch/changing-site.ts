// A site whose pages change at known rates, and the judge of how fresh a copy of it was: exact integrals over the times of
// the changes and of the visits, no samples.

import type { Clock } from '../../src/primitives/clock.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { FakeWebOptions } from '../web/fake-web.ts';
import { answer } from '../web/fake-web.ts';

export const DAY_MS = 86_400_000;

export interface ChangingPage {
  path: string;
  depth: number;
  links: string[];
  ratePerDay: number;
  /** Wall milliseconds, growing. */
  changes: number[];
}

export interface Visit {
  path: string;
  at: number;
}

/** A home page, sections, and pages in each; rates are lognormal (median 0.05 a day), as the freshness judge has them. */
export function createChangingSite(
  random: SeededRandom,
  { sections, pagesEach, from, days }: { sections: number; pagesEach: number; from: number; days: number },
): ChangingPage[] {
  const page = (path: string, depth: number, links: string[]): ChangingPage => {
    const ratePerDay = Math.min(Math.max(0.05 * Math.exp(1.7 * normal(random)), 0.0001), 48);
    return { path, depth, links, ratePerDay, changes: poissonTimes(random, ratePerDay, from, days) };
  };
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  const sectionPaths = numbers(sections).map((n) => `/s${n}`);
  return [
    page('/', 0, sectionPaths),
    ...sectionPaths.flatMap((path) => {
      const inside = numbers(pagesEach).map((n) => `${path}/p${n}`);
      return [page(path, 1, inside), ...inside.map((leaf) => page(leaf, 2, []))];
    }),
  ];
}

function normal({ next }: SeededRandom): number {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

function poissonTimes({ next }: SeededRandom, ratePerDay: number, from: number, days: number): number[] {
  const times: number[] = [];
  for (let day = 0; ; ) {
    day += -Math.log(1 - next()) / ratePerDay;
    if (day >= days) return times;
    times.push(from + day * DAY_MS);
  }
}

export const versionAt = ({ changes }: ChangingPage, at: number) =>
  changes.filter((change) => change <= at).length;

/** Serves the site as it is at the clock's time; `log` gets every page that was asked for. */
export function serveChanging(
  site: readonly ChangingPage[],
  clock: Clock,
  log: Visit[],
): NonNullable<FakeWebOptions['pages']> {
  return Object.fromEntries(
    site.map((page) => [
      page.path,
      (exchange) => {
        const at = clock.now();
        log.push({ path: page.path, at });
        const links = page.links.map((href) => `<a href="${href}">${href}</a>`).join(' ');
        const text = `The page ${page.path} in its version number ${versionAt(page, at)} of many.`;
        const body = `<!DOCTYPE html><title>${page.path}</title><main><h1>A page</h1><p>${text}</p></main>${links}`;
        answer(exchange, { body });
      },
    ]),
  );
}

/**
 * The time-average of the share of pages, by weight, whose copy was current between two moments. Every page was first
 * read before `from`.
 */
export function freshnessOf(
  site: readonly ChangingPage[],
  visits: readonly Visit[],
  from: number,
  to: number,
): number {
  const visitsOf = new Map<string, number[]>(site.map(({ path }) => [path, []]));
  for (const { path, at } of visits) visitsOf.get(path)?.push(at);
  let [fresh, all] = [0, 0];
  for (const page of site) {
    const weight = 1 / (1 + page.depth);
    const times = visitsOf.get(page.path)!;
    all += weight * (to - from);
    times.forEach((at, n) => {
      const stale = page.changes.find((change) => change > at) ?? Number.POSITIVE_INFINITY;
      const end = Math.min(times[n + 1] ?? Number.POSITIVE_INFINITY, stale, to);
      fresh += weight * Math.max(0, end - Math.max(at, from));
    });
  }
  return fresh / all;
}

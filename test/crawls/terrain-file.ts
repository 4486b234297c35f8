// Maps in tests: a terrain file beside the database, and the crawl that `sumi map` makes of it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FakeWeb } from '../web/fake-web.ts';
import {
  type Bench,
  type Crawled,
  type CrawlFile,
  type CrawlOptions,
  fastClock,
  type More,
} from './crawl-site.ts';

export interface Lists {
  /** Hosts of the fake web by number; each is a domain, its seed is `/`. */
  quality?: number[];
  blacklist?: (number | string)[];
  stub?: (number | string)[];
}

/** Host n of the fake web. */
export const address = (host: number) => `127.0.0.${host + 1}`;

/** Writes the file and answers its path and the seeds in it. */
export function writeLists(folder: string, web: FakeWeb, lists: Lists): { path: string; seeds: string[] } {
  const { quality = [0], blacklist = [], stub = [] } = lists;
  const seeds = quality.map((host) => web.url('/', host));
  const domain = (entry: number | string) => (typeof entry === 'number' ? address(entry) : entry);
  const text = [
    ...quality.map((host, i) => `[[quality]]\ndomain = "${address(host)}"\nseeds = ["${seeds[i]}"]`),
    ...blacklist.map((entry) => `[[blacklist]]\ndomain = "${domain(entry)}"`),
    ...stub.map((entry) => `[[stub]]\ndomain = "${domain(entry)}"`),
  ].join('\n\n');
  const path = join(folder, 'terrain.toml');
  writeFileSync(path, `${text}\n`);
  return { path, seeds };
}

/** The profile as it is, but for http, and with the least delay that it allows. */
export const TERRAIN: CrawlOptions = { profile: 'terrain', allowHttp: true, delay: 0.1, retryDelay: 5 };

export function mapWeb(
  bench: Bench,
  file: CrawlFile,
  web: FakeWeb,
  lists: Lists,
  options: CrawlOptions = {},
  more: More = {},
): Promise<Crawled> {
  const { path, seeds } = writeLists(file.folder, web, lists);
  return bench.crawl(
    file,
    seeds,
    { ...TERRAIN, ...options, config: path },
    { clock: fastClock(20), ...more },
  );
}

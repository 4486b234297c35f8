/**
 * fetch() and links(): each URL alone, redirects followed, in one polite crawl. All of a vector is asked for at once, so
 * that hosts are asked side by side; the answers come together, because DuckDB needs them together.
 */
import { isBareAddress, readStartUrl } from '../../config/start-url.ts';
import { SumiError } from '../../errors.ts';
import { createNormalizer, type Normalizer } from '../../url/normalize.ts';
import { findGivenUp } from '../crawls/find-rest.ts';
import { KnownRows } from '../crawls/known-rows.ts';
import { failedRow } from '../crawls/row-of-page.ts';
import { rowOfVisit } from '../crawls/row-of-visit.ts';
import type { CrawlRow } from '../table/crawl-row.ts';
import { invalidRow, type RowWants } from './crawl-feed.ts';
import { crawlForRows } from './crawl-rows.ts';
import type { FeedHouse } from './feed-surroundings.ts';

export interface FetchFeedArgs {
  /** Each once. */
  urls: readonly string[];
  /** As the query gave them. */
  options: Readonly<Record<string, unknown>>;
  wants: RowWants;
}

export interface FetchedRow {
  /** As given. */
  given: string;
  /** Of the last answer, with the URL that was asked for and how it led there. */
  row: CrawlRow;
  /** The page as a whole says nofollow. */
  isNofollow: boolean;
}

type Visited = Omit<FetchedRow, 'given'>;

export async function* fetchFeed(
  { urls, options, wants }: FetchFeedArgs,
  house: FeedHouse,
  signal: AbortSignal,
): AsyncGenerator<FetchedRow[], void> {
  const { config } = await house.resolve(options);
  const normalizer = createNormalizer({ preset: 'standard' });
  const { asked, invalid } = readUrls(urls, normalizer);
  const startUrls = [...new Set(asked.values())];
  if (startUrls.length === 0) return yield invalid;
  const visited = new Map<string, Visited>();
  const known = new KnownRows();
  const inputUrlOf = () => null;
  const crawl = crawlForRows<Visited>(
    {
      // A redirect may lead to any host; nothing else is followed.
      options: {
        ...config,
        fetchOnly: true,
        allowedHosts: ['any'],
        discover: ['links'],
        storeText: wants.text,
      },
      startUrls,
      wantsHeaders: wants.headers,
      rowOf(visit, { respectNoindex: respectsNoindex }) {
        known.set(visit.url, false, 0);
        const row = rowOfVisit(visit, { inputUrlOf, respectsNoindex, wants });
        return { row, isNofollow: visit.facts.nofollow };
      },
      async *restOf(side, project) {
        const rest = { side, project, runIds: new Set<number>(), known, inputUrlOf, now: Date.now() };
        for await (const row of findGivenUp(rest)) yield { row, isNofollow: false };
      },
    },
    house,
    signal,
  );
  for await (const rows of crawl) for (const one of rows) visited.set(one.row.url, one);
  if (signal.aborted) return;
  const now = Date.now();
  yield [
    ...[...asked.keys()].map((given) => ({ given, ...follow(given, visited, normalizer, now) })),
    ...invalid,
  ];
}

/** By the text as given: the text to start with. */
function readUrls(
  urls: readonly string[],
  { normalize }: Normalizer,
): { asked: Map<string, string>; invalid: FetchedRow[] } {
  const asked = new Map<string, string>();
  const invalid: FetchedRow[] = [];
  const refuse = (given: string, problem: string) =>
    invalid.push({ given, row: invalidRow(given, problem, Date.now()), isNofollow: false });
  for (const given of urls) {
    try {
      if (normalize(readStartUrl(given).href) === null) refuse(given, 'the URL cannot be normalized');
      else asked.set(given, given.trim());
    } catch (error) {
      if (!(error instanceof SumiError)) throw error;
      refuse(given, error.message);
    }
  }
  return { asked, invalid };
}

/** The end of the redirects, told as the answer to the URL that was given. */
function follow(
  given: string,
  visited: ReadonlyMap<string, Visited>,
  { normalize }: Normalizer,
  now: number,
): Visited {
  const asked = identitiesOf(given, normalize);
  const url = asked.find((identity) => visited.has(identity)) ?? asked[0];
  const passed = new Set<string>();
  let last = visited.get(url);
  while (last !== undefined && last.row.redirectCount === 1 && !passed.has(last.row.url)) {
    passed.add(last.row.url);
    const next = visited.get(last.row.finalUrl!);
    if (next === undefined) break;
    last = next;
  }
  if (last === undefined)
    return {
      row: failedRow(
        { url, state: 'Unreachable', error: 'network: no answer', errorType: 'network_error' },
        { crawlTime: now },
      ),
      isNofollow: false,
    };
  const { row, isNofollow } = last;
  const redirectCount =
    row.redirectCount === 1 ? passed.size : row.redirectCount === null ? null : passed.size;
  return {
    row: {
      ...row,
      url,
      surtKey: passed.size === 0 ? row.surtKey : visited.get(url)!.row.surtKey,
      redirectCount,
    },
    isNofollow,
  };
}

/** A bare host may speak http only. */
function identitiesOf(given: string, normalize: Normalizer['normalize']): string[] {
  const { href } = readStartUrl(given);
  const spellings = isBareAddress(given) ? [href, href.replace(/^https:/, 'http:')] : [href];
  return spellings.flatMap((spelling) => normalize(spelling)?.url ?? []);
}

/** crawl(): a CRAWL whose rows go to the query and to no table. */
import { createNormalizer } from '../../url/normalize.ts';
import { findGivenUp } from '../crawls/find-rest.ts';
import { KnownRows } from '../crawls/known-rows.ts';
import { createInputReader, inputOf } from '../crawls/read-input.ts';
import { failedRow } from '../crawls/row-of-page.ts';
import { rowOfVisit } from '../crawls/row-of-visit.ts';
import type { CrawlRow } from '../table/crawl-row.ts';
import { crawlForRows } from './crawl-rows.ts';
import type { FeedHouse } from './feed-surroundings.ts';

export interface CrawlFeedArgs {
  urls: readonly (string | null)[];
  /** As the query gave them. */
  options: Readonly<Record<string, unknown>>;
  wants: RowWants;
}

/** What somebody asks for beside the small columns. */
export interface RowWants {
  body: boolean;
  text: boolean;
  headers: boolean;
}

export async function* crawlFeed(
  { urls, options: given, wants }: CrawlFeedArgs,
  house: FeedHouse,
  signal: AbortSignal,
): AsyncGenerator<CrawlRow[], void> {
  const { config: options, own } = await house.resolve(given);
  const { sitemaps, followLinks: followsLinks, logSkipped: logsSkipped } = own;
  const { keepQuery, dropQuery, normalize: preset = 'standard' } = options;
  const { normalize } = createNormalizer({ preset, keepQuery, dropQuery });
  const { input, add } = createInputReader({ normalize, sitemaps, followsLinks });
  for (const url of urls) add(url);
  const now = Date.now();
  if (input.invalid.length > 0)
    yield input.invalid.map(({ text, problem }) => invalidRow(text, problem, now));
  const inputs = [...input.urls.values()];
  if (inputs.length === 0) return;
  const inputUrlOf = (url: string) => inputOf(input, url)?.given ?? null;
  const known = new KnownRows();
  yield* crawlForRows<CrawlRow>(
    {
      options: { ...options, storeText: wants.text },
      startUrls: inputs.map(({ text }) => text),
      meanings: new Map(
        inputs.flatMap(({ identity, meaning }) => (meaning ? [[identity.url, meaning]] : [])),
      ),
      wantsHeaders: wants.headers,
      rowOf(visit, { respectNoindex: respectsNoindex }) {
        known.set(visit.url, false, 0);
        const row = rowOfVisit(visit, { inputUrlOf, respectsNoindex, wants });
        return row.errorType === 'robots_disallowed' && !logsSkipped ? null : row;
      },
      restOf: (side, project) =>
        findGivenUp({ side, project, runIds: new Set(), known, inputUrlOf, now: Date.now() }),
    },
    house,
    signal,
  );
}

export function invalidRow(text: string, problem: string, now: number): CrawlRow {
  return failedRow(
    { url: text, state: 'Failed', error: problem, errorType: 'invalid_url' },
    { crawlTime: now, inputUrl: text, surtKey: null },
  );
}

/**
 * Queries on an attached crawl, as docs/sql.md shows them: each runs here as it stands there, on a web whose answers are
 * known. Copy the text of a query with its title.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useBench } from '../crawls/crawl-site.ts';
import { eachStore } from '../crawls/each-store.ts';
import { crawlLittleWeb, littleWeb, type TestDuckDb, useSiteBench } from './site-bench.ts';

const QUERIES = {
  'Broken links, and who links to them': `
SELECT target.url, target.status_code, source.url AS linked_from, link.anchor
FROM site.pages target
  JOIN site.links link ON link.to_page_id = target.id
  JOIN site.pages source ON source.id = link.from_page_id
WHERE target.state IN ('DeadLink', 'Gone', 'Failed', 'Unreachable')
ORDER BY ALL;`,

  'Orphans: in the sitemap, but no page links to them': `
SELECT entry.url, entry.first_seen
FROM site.sitemap_entries entry
  ANTI JOIN site.links link ON link.to_page_id = entry.page_id AND link.from_page_id <> entry.page_id
ORDER BY entry.url;`,

  'The biggest changes': `
SELECT url, run_id, parts,
  coalesce((detail->>'wordsAdded')::INTEGER, 0) + coalesce((detail->>'wordsRemoved')::INTEGER, 0) AS words
FROM site.page_changes
ORDER BY words DESC, url
LIMIT 10;`,

  PageRank: `
WITH RECURSIVE
  page AS MATERIALIZED (SELECT id, url FROM site.live),
  link AS MATERIALIZED (
    SELECT from_page_id AS source, to_page_id AS target, 1 / count(*) OVER (PARTITION BY from_page_id) AS share
    FROM site.links
    WHERE from_page_id IN (SELECT id FROM page) AND to_page_id IN (SELECT id FROM page)),
  rank AS (
    SELECT 0 AS round, id, 1 / count(*) OVER () AS rank FROM page
    UNION ALL
    -- What pages without links have is spread over all: a round passes on everything.
    SELECT any_value(before.round) + 1, id,
      0.15 / count(*) OVER () + 0.85 * (coalesce(sum(got), 0) + (1 - sum(sum(got)) OVER ()) / count(*) OVER ())
    FROM (
      SELECT round, target AS id, rank * share AS got FROM rank JOIN link ON source = id
      UNION ALL
      SELECT round, id, 0 FROM rank) before
    WHERE before.round < 50
    GROUP BY id)
SELECT url, round(rank, 4) AS rank
FROM rank JOIN page USING (id)
WHERE round = (SELECT max(round) FROM rank)
ORDER BY rank DESC, url
LIMIT 20;`,

  'Redirect chains': `
WITH RECURSIVE chain AS (
  SELECT [url] AS hops, redirect_to FROM site.pages
  WHERE redirect_to IS NOT NULL
    AND id NOT IN (SELECT redirect_to FROM site.pages WHERE redirect_to IS NOT NULL)
  UNION ALL
  SELECT hops || [page.url], page.redirect_to
  FROM chain JOIN site.pages page ON page.id = chain.redirect_to
  WHERE len(hops) < 20)
SELECT array_to_string(hops, ' > ') AS chain, len(hops) - 1 AS redirects
FROM chain
WHERE redirect_to IS NULL
ORDER BY redirects DESC, chain;`,

  'The same content under several URLs': `
SELECT count(*) AS pages, list(url ORDER BY url) AS urls
FROM site.live
WHERE content_hash IS NOT NULL
GROUP BY content_hash
HAVING count(*) > 1
ORDER BY pages DESC, urls;`,

  'What each run found': `
SELECT id, status, pages, "new", changed, unchanged, gone, failed, finished_at - started_at AS took
FROM site.runs
ORDER BY id;`,

  'The crawl as Parquet, with the columns of Common Crawl’s index': `
COPY (FROM site.cc_index ORDER BY url_surtkey) TO 'pages.parquet' (FORMAT parquet, COMPRESSION zstd);`,

  'The file again': `
SELECT url_surtkey, fetch_status, content_mime_type FROM 'pages.parquet' WHERE subset = 'warc' LIMIT 2;`,

  'A copy of the crawl in the DuckDB file': `
CREATE TABLE pages AS FROM site.pages;`,
};

const bench = useBench();
const sites = useSiteBench();
const STORES = eachStore(bench);

describe('queries on an attached crawl', () => {
  let duck: TestDuckDb;
  let origin: string;
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sumi-queries-'));
    const { pages, change } = littleWeb();
    const web = await bench.web({ pages });
    const place = await STORES.SQLite();
    await crawlLittleWeb(place, web.origin, change);
    duck = await sites.duckDb();
    await duck.attach('site', String(place.options.db));
    await duck.run(`SET file_search_path = '${folder}'`);
    ({ origin } = web);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Rows as text, without the origin of the fake web; the query as it stands. */
  async function answer(title: keyof typeof QUERIES): Promise<unknown[][]> {
    const sql = QUERIES[title].replaceAll("'pages.parquet'", `'${join(folder, 'pages.parquet')}'`);
    const rows = await duck.texts(sql);
    return JSON.parse(JSON.stringify(rows).replaceAll(origin, '')) as unknown[][];
  }

  it('tell broken links', async () => {
    const rows = await answer('Broken links, and who links to them');
    expect(rows).toEqual([
      ['/dead', 404, '/', '/dead'],
      ['/dead', 404, '/b', '/dead'],
      ['/loop', 301, '/b', '/loop'],
    ]);
  });

  it('tell orphans', async () => {
    const rows = await answer('Orphans: in the sitemap, but no page links to them');
    expect(rows.map(([url]) => url)).toEqual(['/alone', '/broken', '/gone']);
  });

  it('tell what changed most', async () => {
    const rows = await answer('The biggest changes');
    expect(rows[0]).toMatchObject(['/c', '2', 'text', expect.any(Number)]);
    expect(rows.map(([url]) => url)).toContain('/');
    expect(Number(rows[0][3])).toBeGreaterThan(0);
  });

  it('rank pages as a power iteration does', async () => {
    const rows = await answer('PageRank');
    const ranks = powerIteration(
      (await duck.texts('SELECT id, url FROM site.live')).map(([id, url]) => ({
        id: Number(id),
        url: String(url).replace(origin, ''),
      })),
      (await duck.texts('SELECT from_page_id, to_page_id FROM site.links')).map((link) => link.map(Number)),
    );
    expect(rows).toHaveLength(ranks.size);
    for (const [url, rank] of rows)
      expect(Math.abs(Number(rank) - ranks.get(String(url))!), String(url)).toBeLessThan(1e-4);
    expect(rows.reduce((sum, [, rank]) => sum + Number(rank), 0)).toBeCloseTo(1, 2);
  });

  it('tell redirect chains', async () => {
    expect(await answer('Redirect chains')).toEqual([['/old > /mid > /new', '2']]);
  });

  it('tell copies', async () => {
    expect(await answer('The same content under several URLs')).toEqual([['2', ['/a', '/a?x=1']]]);
  });

  it('tell what runs found', async () => {
    const rows = await answer('What each run found');
    expect(rows.map(([id, status]) => [id, status])).toEqual([
      ['1', 'completed'],
      ['2', 'completed'],
    ]);
  });

  it('write a file of Parquet, and read it', async () => {
    await answer('The crawl as Parquet, with the columns of Common Crawl’s index');
    const rows = await answer('The file again');
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject([expect.stringMatching(/^127\.0\.0\.1:\d+\)\/$/), 200, 'text/html']);
  });

  it('copy', async () => {
    await answer('A copy of the crawl in the DuckDB file');
    expect(await duck.texts('SELECT count(*) = (SELECT count(*) FROM site.pages) FROM memory.pages')).toEqual(
      [[true]],
    );
  });
});

function powerIteration(pages: { id: number; url: string }[], links: number[][]): Map<string, number> {
  const places = new Map(pages.map(({ id }, at) => [id, at]));
  const out = pages.map(() => [] as number[]);
  for (const [from, to] of links) {
    const [a, b] = [places.get(from), places.get(to)];
    if (a !== undefined && b !== undefined) out[a].push(b);
  }
  const n = pages.length;
  let ranks = pages.map(() => 1 / n);
  for (let round = 0; round < 50; round++) {
    const next = pages.map(() => 0);
    let lost = 0;
    for (const [at, targets] of out.entries()) {
      if (targets.length === 0) lost += ranks[at];
      for (const target of targets) next[target] += ranks[at] / targets.length;
    }
    ranks = next.map((got) => 0.15 / n + 0.85 * (got + lost / n));
  }
  return new Map(pages.map(({ url }, at) => [url, ranks[at]]));
}

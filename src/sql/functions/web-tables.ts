/** Table functions whose rows the web gives: crawl(), sitemap(), links(), robots_check(). */
import { BOOLEAN, DOUBLE, type DuckDBTableFunction, type DuckDBValue, VARCHAR } from '@duckdb/node-api';
import { createHtmlQuestions } from '../../parse/extract/html-questions.ts';
import { createDocumentReader } from '../../parse/extract/read-document.ts';
import type { RobotsCheck } from '../../project/check-robots.ts';
import type { FetchedRow } from '../feeds/fetch-feed.ts';
import type { SitemapRow } from '../feeds/sitemap-feed.ts';
import { type BodyReader, createBodyReader } from '../table/body-text.ts';
import type { CrawlRow } from '../table/crawl-row.ts';
import { optionsOf, textOf, textsOf } from './arguments.ts';
import { bodyTextOf, crawlColumns, type RowColumn } from './crawl-columns.ts';
import type { FunctionErrors } from './function-errors.ts';
import type { OpenFeeds } from './open-feeds.ts';
import { makeTable } from './table-function.ts';

interface Around {
  errors: FunctionErrors;
  feeds: OpenFeeds;
}

type Argument = (name: string) => DuckDBValue;

export function webTables(around: Around): DuckDBTableFunction[] {
  const bodyOf = createBodyReader();
  return [crawlTable(bodyOf, around), sitemapTable(around), linksTable(bodyOf, around), robotsTable(around)];
}

function urlsAndOptions(call: string, argument: Argument) {
  return {
    urls: textsOf(argument('url'), { call: `${call}()`, name: 'url' }),
    options: optionsOf(argument('options'), { call: `${call}()`, name: 'options' }),
  };
}

function crawlTable(bodyOf: BodyReader, around: Around): DuckDBTableFunction {
  return makeTable<CrawlRow>(
    'sumi_crawl',
    {
      parameters: ['url', 'options'],
      columns: crawlColumns(bodyOf),
      bind(argument) {
        const given = urlsAndOptions('crawl', argument);
        return (columns) => {
          const wants = {
            body: columns.has('body'),
            text: columns.has('text'),
            headers: columns.has('headers'),
          };
          return { kind: 'crawl', args: { ...given, wants } };
        };
      },
      rowsOf: (batch) => batch as CrawlRow[],
    },
    around,
  );
}

function sitemapTable(around: Around): DuckDBTableFunction {
  const columns: readonly RowColumn<SitemapRow>[] = [
    { name: 'url', type: VARCHAR, of: ({ url }) => url },
    { name: 'lastmod', type: VARCHAR, of: ({ lastmod }) => lastmod },
    { name: 'changefreq', type: VARCHAR, of: ({ changefreq }) => changefreq },
    { name: 'priority', type: DOUBLE, of: ({ priority }) => priority },
    { name: 'sitemap', type: VARCHAR, of: ({ sitemap }) => sitemap },
  ];
  return makeTable<SitemapRow>(
    'sumi_sitemap',
    {
      parameters: ['url', 'options'],
      columns,
      bind(argument) {
        const args = urlsAndOptions('sitemap', argument);
        return () => ({ kind: 'sitemap', args });
      },
      rowsOf: (batch) => batch as SitemapRow[],
    },
    around,
  );
}

interface LinkRow {
  url: string;
  to: string | null;
  href: string;
  text: string;
  rel: string | null;
  nofollow: boolean;
}

function linksTable(bodyOf: BodyReader, around: Around): DuckDBTableFunction {
  const questions = createHtmlQuestions(createDocumentReader());
  const columns: readonly RowColumn<LinkRow>[] = [
    { name: 'url', type: VARCHAR, of: ({ url }) => url },
    { name: 'to_url', type: VARCHAR, of: ({ to }) => to },
    { name: 'href', type: VARCHAR, of: ({ href }) => href },
    { name: 'text', type: VARCHAR, of: ({ text }) => text },
    { name: 'rel', type: VARCHAR, of: ({ rel }) => rel },
    { name: 'nofollow', type: BOOLEAN, of: ({ nofollow }) => nofollow },
  ];

  function linksOf({ row, isNofollow: isAllNofollow }: FetchedRow): LinkRow[] {
    const html = bodyTextOf(row, bodyOf);
    if (html === null) return [];
    return questions
      .htmlLinks(html, row.finalUrl ?? row.url)
      .map(({ url: to, href, text, rel, isNofollow }) => ({
        ...{ url: row.url, to, href, text, rel },
        nofollow: isNofollow || isAllNofollow,
      }));
  }

  return makeTable<LinkRow>(
    'sumi_links',
    {
      parameters: ['url', 'options'],
      columns,
      bind(argument) {
        const { urls, options } = urlsAndOptions('links', argument);
        const wants = { body: true, text: false, headers: false };
        return () => ({ kind: 'fetch', args: { urls: [...new Set(urls)], options, wants } });
      },
      rowsOf: (batch) => (batch as FetchedRow[]).flatMap(linksOf),
    },
    around,
  );
}

function robotsTable(around: Around): DuckDBTableFunction {
  const columns: readonly RowColumn<RobotsCheck>[] = [
    { name: 'url', type: VARCHAR, of: ({ url }) => url },
    { name: 'agent', type: VARCHAR, of: ({ agent }) => agent },
    { name: 'allowed', type: BOOLEAN, of: ({ allowed }) => allowed },
    { name: 'rule', type: VARCHAR, of: ({ rule }) => rule },
    { name: 'crawl_delay', type: DOUBLE, of: ({ crawlDelay }) => crawlDelay },
  ];
  return makeTable<RobotsCheck>(
    'sumi_robots_check',
    {
      parameters: ['url', 'agent'],
      columns,
      bind(argument) {
        const urls = textsOf(argument('url'), { call: 'robots_check()', name: 'url' });
        const agent = textOf(argument('agent'), { call: 'robots_check()', name: 'agent' });
        return () => ({ kind: 'robots', args: { urls, agent } });
      },
      rowsOf: (batch) => batch as RobotsCheck[],
    },
    around,
  );
}

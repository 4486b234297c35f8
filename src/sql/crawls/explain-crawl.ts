/** EXPLAIN CRAWL: what the statement would do, without a request and without a row. */

import type { KnownRows } from './known-rows.ts';
import type { CrawlPlan } from './plan-crawl.ts';

/** One line of the answer. `source`: where an option's value comes from. */
export type ExplainedLine = [topic: string, name: string, value: string, source: string | null];

const MOST_HOSTS = 20;

export function explainCrawl(plan: CrawlPlan, known: KnownRows): ExplainedLine[] {
  return [
    ...explainTarget(plan),
    ...explainInput(plan, known),
    ...explainHosts(plan),
    ...explainCondition(plan),
    ...plan.shown.map(({ name, value, source }): ExplainedLine => ['option', name, String(value), source]),
  ];
}

function explainTarget({ target }: CrawlPlan): ExplainedLine[] {
  return [
    ['target', 'table', target.name, target.isNew ? 'it will be made' : 'it is there'],
    ...target.columns.map(({ name, type }): ExplainedLine => ['column', name, type, null]),
    ...target.missing.map((name): ExplainedLine => ['column', name, '', 'the table has no such column']),
  ];
}

function explainInput({ input, isInputRead }: CrawlPlan, known: KnownRows): ExplainedLine[] {
  if (!isInputRead)
    return [['input', 'not read', '', 'the query asks the web, and EXPLAIN makes no request']];
  const counts = { new: 0, known: 0, passing: 0 };
  let sites = 0;
  for (const [url, { meaning }] of input.urls) {
    counts[known.standing(url)]++;
    if (meaning === 'site') sites++;
  }
  const line = (name: string, count: number, source: string | null = null): ExplainedLine => [
    'input',
    name,
    String(count),
    source,
  ];
  return [
    line('new', counts.new, 'the table has no row'),
    line('known', counts.known, 'the table has a row: not asked again'),
    line('asked again', counts.passing, 'the row is a failure that may be over'),
    line('invalid', input.invalid.length, 'text that is no URL: it gets a row'),
    line('empty', input.empty, 'NULL or empty text: left out'),
    line('sites', sites, 'they stand for what their sitemaps name'),
  ];
}

function explainHosts({ input }: CrawlPlan): ExplainedLine[] {
  const counts = new Map<string, number>();
  for (const url of input.urls.keys()) {
    const { host } = new URL(url);
    counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  const most = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const shown = most
    .slice(0, MOST_HOSTS)
    .map(([host, urls]): ExplainedLine => ['host', host, String(urls), null]);
  const rest = most.length - shown.length;
  return rest > 0 ? [...shown, ['host', `and ${rest} more`, '', null]] : shown;
}

function explainCondition({ condition }: CrawlPlan): ExplainedLine[] {
  if (condition === null) return [];
  const by = condition.test === null ? 'asked of DuckDB, page by page' : 'judged without DuckDB';
  return [['condition', 'where', condition.written, by]];
}

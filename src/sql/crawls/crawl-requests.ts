/** A CRAWL statement as requests to the engine: what is new, and then what may be out of date. */
import { createHash } from 'node:crypto';
import { loadConfig } from '../../config/load-config.ts';
import type { StartMeaning } from '../../crawl/parts.ts';
import type { Due } from '../../crawl/run/prepare-run.ts';
import type { CrawlRequest } from '../../crawl/start-crawl.ts';
import type { ScopeRule } from '../../scope/classify.ts';
import type { Store } from '../../store/store-port.ts';
import type { SqlParameters } from '../sql-session.ts';
import type { Where } from './judge-where.ts';
import type { KnownRows } from './known-rows.ts';
import type { CrawlPlan } from './plan-crawl.ts';
import type { RowSink } from './row-sink.ts';

/** Of one statement: what its requests are made of. */
export interface StatementParts {
  plan: CrawlPlan;
  store: Store;
  sink: RowSink;
  known: KnownRows;
  where: Where;
  /** Input that a condition of DuckDB's refuses. */
  refused: ReadonlySet<string>;
  project: string;
  fingerprint: string;
}

/** Where the mark of a statement is kept: among the notes of its run. */
export const STATEMENT_NOTE = 'statement';

/** The same for statements that go on with each other: LIMIT may differ. */
export function fingerprintOf(plan: CrawlPlan, parameters: SqlParameters | undefined): string {
  const { query, condition, options } = plan;
  const text = JSON.stringify([query, parameters ?? null, condition?.text ?? null, options], (_, value) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

const skipped = (reason: string) => ({ state: 'Skipped' as const, priority: 2, reason });

/** A row that is there stays. Rows of this crawl are of pages that the crawl knows: an empty table has nothing to say. */
function tableRule({ known, plan }: StatementParts): ScopeRule[] {
  if (known.size === 0) return [];
  const refusal = skipped(`table: ${plan.target.name} has a row`);
  return [({ url }) => (known.standing(url) === 'known' ? refusal : null)];
}

/** Of a condition that DuckDB is asked, input is judged before; what is found is asked as it comes. */
function whereRule({ where, refused }: StatementParts): ScopeRule[] {
  const { reason, test } = where;
  if (reason === null) return [];
  const refusal = skipped(reason);
  if (test !== null) return [({ url }) => (test(url) ? null : refusal)];
  return [({ url, isStart }) => (isStart && refused.has(url) ? refusal : null)];
}

function judgeUrls({ where }: StatementParts) {
  const { reason, test } = where;
  if (test !== null) return undefined;
  return async (urls: readonly string[]) =>
    (await where.judge(urls)).map((isWanted) => (isWanted ? null : reason));
}

async function requestOf(
  parts: StatementParts,
  options: Record<string, unknown>,
  rules: readonly ScopeRule[],
): Promise<CrawlRequest> {
  const { plan, store, sink, project, fingerprint } = parts;
  const { input, target } = plan;
  const meanings = new Map<string, StartMeaning>();
  for (const [url, { meaning }] of input.urls) if (meaning !== undefined) meanings.set(url, meaning);
  const config = await loadConfig({
    env: {},
    options: {
      ...plan.options,
      project,
      meta: [`${STATEMENT_NOTE}=${fingerprint}`],
      storeText: target.wantsText,
      ...options,
    },
  });
  return {
    config,
    startUrls: [...input.urls.values()].map(({ text }) => text),
    meanings,
    extensions: {
      store,
      scopeRules: rules,
      beforeSettle: sink.keep,
      judgeUrls: judgeUrls(parts),
      wantsHeaders: target.wantsHeaders,
    },
  };
}

export async function newPages(parts: StatementParts, due: Due): Promise<CrawlRequest> {
  const { followLinks, sitemaps } = parts.plan.own;
  const discover = [
    ...(sitemaps === 'never' && followLinks ? [] : ['sitemap']),
    ...(followLinks ? ['links'] : []),
  ];
  const request = await requestOf(parts, { discover }, [...tableRule(parts), ...whereRule(parts)]);
  return { ...request, due };
}

/** Only these, with the questions that a server can answer by 304. */
export async function stalePages(parts: StatementParts, stale: KnownRows): Promise<CrawlRequest> {
  const isStale = (url: string) => stale.standing(url) === 'known';
  const onlyThese: ScopeRule = ({ url }) =>
    isStale(url) ? null : skipped('table: only rows that are out of date are asked again');
  // What a crash leaves of it is not gone on with: the table says again what is out of date.
  const own = { ...parts, fingerprint: `${parts.fingerprint} stale` };
  const request = await requestOf(
    own,
    { mode: 'incremental', trustLastmod: 'never', obeyFreshness: false, discover: ['links'] },
    [onlyThese],
  );
  return { ...request, due: ({ url }) => isStale(url) };
}

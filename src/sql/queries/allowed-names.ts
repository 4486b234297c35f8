/**
 * What a query of a stranger may name. Tables and table functions are listed one by one: a version of DuckDB with more of
 * them offers no more here. Plain functions compute, but for the few that are listed as refused.
 */
import { siteViews } from '../attached/site-tables.ts';

/** The catalog that a query stands in, so that `site.pages` means what it means after ATTACH … AS site. */
export const CATALOG = 'site';

/** The one store that is open. */
export const SITE = 1;

export const VIEW_NAMES: ReadonlySet<string> = new Set(Object.keys(siteViews(SITE)));

export const CATALOG_VIEWS: ReadonlySet<string> = new Set(['tables', 'columns', 'schemata', 'views']);

/** They make rows of their arguments alone. */
export const TABLE_FUNCTIONS: ReadonlySet<string> = new Set([
  'range',
  'generate_series',
  'unnest',
  'repeat',
  'json_each',
  'json_tree',
]);

/** What they tell or change is not the project's; or they only wait. */
export const REFUSED_FUNCTIONS: ReadonlySet<string> = new Set([
  'current_setting',
  'getenv',
  'getvariable',
  'sleep_ms',
  'write_log',
  'nextval',
  'currval',
  'setseed',
  'current_connection_id',
  'current_query_id',
  'current_transaction_id',
  'txid_current',
  'json_execute_serialized_sql',
]);

/** What SHOW without a name of its own lists. */
export const SHOWN_LISTS: ReadonlySet<string> = new Set(['"tables"', '__show_tables_expanded']);

// docs/sql.md is written by hand but for its tables: options of WITH, columns, words for failures and functions are put in
// from the source, so that no name is missing and no default is stale. What a name means stands here; a name without a
// meaning does not compile.
import { describeExpected } from '../src/config/parse-value.ts';
import { showValue } from '../src/config/show-value.ts';
import { FUNCTIONS } from '../src/sql/functions/function-list.ts';
import {
  CRAWL_OPTIONS,
  type CrawlOption,
  NAMED_OPTIONS,
  type NamedOption,
} from '../src/sql/language/option-names.ts';
import { COLUMN_NAMES, COLUMNS, type ColumnName } from '../src/sql/table/columns.ts';
import { ERROR_TYPES, type ErrorType } from '../src/sql/table/crawl-row.ts';
import { wrapProse } from './wrap-prose.ts';

const OPTION_MEANINGS: Readonly<Record<NamedOption, string>> = {
  user_agent: 'The whole User-Agent header. `none`: the name and version of Sumi-Ripple.',
  threads:
    'How many requests may be open at the same time. `max_total_connections` counts, too: the smaller one wins.',
  max_total_connections: 'How many requests may be open at the same time, over all hosts.',
  max_parallel_per_domain:
    'How many requests to one host may be open at the same time. With a Crawl-delay: one.',
  default_crawl_delay: 'Seconds between the starts of two requests to one host.',
  min_crawl_delay:
    'The same: the larger one of the two counts. A Crawl-delay in robots.txt can only increase it.',
  max_crawl_delay:
    'The longest delay for a slow host, in seconds. A longer Crawl-delay in robots.txt is obeyed.',
  respect_robots_txt: 'Request robots.txt and obey it.',
  log_skipped: 'Write a row for a URL that robots.txt forbids. `false`: only count it as `skipped`.',
  max_response_bytes:
    'The largest page, after decompression. A larger one has the error `content_too_large`.',
  accept_content_types:
    "Content types to download, such as `['text/html', 'application/*']`. Empty: all types.",
  reject_content_types: 'Content types not to download, also if `accept_content_types` has them.',
  compress: 'Accept compressed answers.',
  http2: 'Use HTTP/2 if the server supports it.',
  follow_links: 'Also crawl the pages that the pages link to.',
  allow_subdomains: 'Links may also lead to subdomains of the hosts in the query.',
  max_crawl_depth: 'How many links may lie between a URL of the query and a page.',
  max_crawl_pages: 'Stop after so many pages. `LIMIT` counts rows instead.',
  respect_nofollow: 'Do not follow links with `rel=nofollow`, nor the links of a page that says `nofollow`.',
  follow_canonical: 'Follow the canonical URL of a page as if it were a link.',
  sitemaps: 'When to read sitemaps: see “What the URLs of the query stand for”.',
  sitemap_cache_hours: 'For so many hours, what a sitemap said is not requested again.',
  update_stale:
    'After the new pages, request rows again that may be out of date: see “Rows that are out of date”.',
  max_retries: 'How often to retry a URL after a 5xx answer, a timeout or a broken connection.',
  max_retry_backoff_seconds: 'The longest pause before a retry. Pauses grow as 1, 1, 2, 3, 5, 8 … seconds.',
  timeout_seconds: 'How long one request may take, from connecting to the last byte.',
  http_keep_alive: 'Use a connection for more than one request.',
  http_proxy: 'The HTTP proxy: `http://[USER:PASSWORD@]HOST[:PORT]`.',
  batch_size: 'How many rows one transaction has at most.',
  background: 'Do not wait for the end of the crawl: see “In the background”.',
};

const COLUMN_MEANINGS: Readonly<Record<ColumnName, string>> = {
  url: 'The normalized URL. Each URL has one row. Text of the query that is no URL stands here as it was given.',
  surt_key: 'The URL with its host reversed: rows of a domain sort together (`example,shop)/news`).',
  http_status: 'The status of the answer. NULL: there was no answer, or no request.',
  body: 'The page as text. NULL for images and other binary types, and for pages that say noindex. A BLOB column gets bytes.',
  content_type: 'The Content-Type header.',
  crawl_time: 'When the page was answered, in UTC, by the clock of the server if this clock is right.',
  error: 'What went wrong, in words. NULL if nothing did.',
  error_type: 'What went wrong, in one word: see the next table. NULL if nothing did.',
  etag: 'The ETag header.',
  last_modified: 'The Last-Modified header.',
  content_hash: 'SHA-256 of the body, in hexadecimal digits.',
  final_url: 'The URL that answered in the end. For a redirect: its target.',
  redirect_count: 'How many redirects lead from `url` to `final_url`.',
  elapsed_ms: 'Milliseconds from the request to the end of the answer.',
  title: 'The title of the page.',
  depth:
    'How many links lie between a URL of the query and this page. 0: the query has it. Pages of a sitemap have 1.',
  input_url: 'The text of the query that asked for this page, as it was given. NULL: the page was found.',
  state: 'What became of the URL, as in [words.md](words.md#states).',
  headers: 'All headers of the answer, with names in small letters.',
  text: 'The main text of the page, without menus and footers.',
  h1: 'The first heading of the page.',
  meta_description: 'The description in the head of the page.',
  lang: 'The language that the page names.',
  canonical: 'The canonical URL that the page names.',
  word_count: 'How many words the main text has.',
};

const ERROR_MEANINGS: Readonly<Record<ErrorType, readonly [string, isAskedAgain: boolean]>> = {
  network_timeout: ['The server did not answer in time.', true],
  network_dns_failure: ['The host name is unknown.', true],
  network_connection_refused: ['The server refused the connection.', true],
  network_ssl_error: ['The server has no certificate that can be trusted, or TLS failed otherwise.', true],
  network_error: ['The connection broke, or the answer could not be read.', true],
  http_client_error: ['The server answered with 4xx, such as 404.', false],
  http_server_error: ['The server answered with 5xx.', true],
  http_rate_limited: ['The server answered with 429: too many requests.', true],
  robots_disallowed: ['robots.txt forbids the URL. It was not requested.', false],
  content_too_large: ['The page is larger than `max_response_bytes`.', false],
  content_type_rejected: ['The content type is not one that the statement accepts.', false],
  redirect_error: [
    'The redirects go in a circle, are too many, or lead to a URL that a rule forbids.',
    false,
  ],
  invalid_url: ['The text is no http or https URL.', false],
};

const code = (text: string) => `\`${text}\``;

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function defaultOf({ name, default: value, setting, spec }: CrawlOption): string {
  if (name === 'threads') return 'setting `threads`';
  const shown =
    value === null ? 'none' : Array.isArray(value) && value.length === 0 ? "''" : showValue(value, spec);
  return `${code(shown.replace(/^"(.*)"$/, '$1'))}${setting === null ? '' : `, setting ${code(setting)}`}`;
}

const isNamed = (name: string): name is NamedOption => Object.hasOwn(OPTION_MEANINGS, name);

function optionsTable(): string {
  const rows = NAMED_OPTIONS.map((option) => [
    code(option.name),
    describeExpected(option.spec)
      .replace(/ \(also as .*\)/, '')
      .replaceAll('*', '\\*'),
    defaultOf(option),
    isNamed(option.name) ? OPTION_MEANINGS[option.name] : '',
  ]);
  return markdownTable(['option', 'takes', 'default', 'meaning'], rows);
}

function otherOptions(): string {
  const others = [...CRAWL_OPTIONS.keys()].slice(NAMED_OPTIONS.length);
  return wrapProse(`${others.map(code).join(', ')}.`);
}

function columnsTable(isCreated: boolean): string {
  const rows = COLUMN_NAMES.filter((name) => COLUMNS[name].isCreated === isCreated).map((name) => [
    code(name),
    COLUMNS[name].type,
    COLUMN_MEANINGS[name],
  ]);
  return markdownTable(['column', 'type', 'what it is'], rows);
}

function errorsTable(): string {
  const rows = ERROR_TYPES.map((type) => {
    const [meaning, isAskedAgain] = ERROR_MEANINGS[type];
    return [code(type), meaning, isAskedAgain ? 'yes' : 'no'];
  });
  return markdownTable(['error_type', 'what happened', 'requested again by the next CRAWL'], rows);
}

function functionsTable(): string {
  const rows = FUNCTIONS.map(({ name, kind, parameters, comment }) => [
    code(
      `${name}(${parameters.map((parameter) => parameter.replace('::VARCHAR', '').replace('::BIGINT', '')).join(', ')})`,
    ),
    kind === 'table' ? 'a table' : 'a value',
    comment,
  ]);
  return markdownTable(['function', 'gives', 'what it does'], rows);
}

const TABLES: Readonly<Record<string, () => string>> = {
  options: optionsTable,
  'other options': otherOptions,
  columns: () => columnsTable(true),
  'more columns': () => columnsTable(false),
  errors: errorsTable,
  functions: functionsTable,
};

export const SQL_TABLES = Object.keys(TABLES);

/** Puts the tables between their marks. */
export function fillSql(markdown: string): string {
  return markdown.replace(
    /(<!-- table: ([\w ]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => `${start}\n${TABLES[name]()}\n\n${end}`,
  );
}

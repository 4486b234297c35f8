/**
 * What other programs, or everyday language, call our options and commands: only suggested in errors, never taken.
 * Names of the specifications are taken (ALIASES in option-table.ts). Where a word has several meanings, the first that
 * the command takes is suggested.
 */

const OUTPUT_WORDS = ['output', 'output-file', 'out-file', 'output-document', 'file', 'save-to', 'out', 'o'];

/** Ours → the words of others. Without dashes; one letter is a short flag. */
const FLAG_WORDS: Readonly<Record<string, readonly string[]>> = {
  limit: ['limit', 'max', 'max-pages', 'count', 'head', 'top', 'n', 'rows'],
  'max-pages': ['limit', 'max', 'count', 'n', 'pages', 'page-limit', 'limit-pages', 'max-urls', 'quota'],
  'max-depth': ['depth', 'level', 'levels', 'max-level', 'depth-limit', 'd', 'l'],
  delay: ['rate', 'rate-limit', 'throttle', 'wait', 'sleep', 'pause', 'interval', 'download-delay', 'w'],
  concurrency: ['threads', 'parallel', 'jobs', 'j', 'connections', 'max-connections', 'concurrent', 't'],
  out: OUTPUT_WORDS,
  db: ['database', 'sqlite'],
  'no-robots': ['ignore-robots', 'ignore-robots-txt', 'skip-robots', 'no-robots-txt', 'disobey-robots'],
  robots: ['obey-robots', 'respect-robots', 'robots-txt'],
  'user-agent': ['ua', 'agent', 'useragent', 'u', 'A'],
  header: ['headers', 'add-header', 'H'],
  cookie: ['cookies', 'load-cookies', 'b'],
  auth: ['user', 'username', 'password', 'http-user', 'basic-auth', 'credentials'],
  include: ['allow', 'accept', 'filter', 'match', 'only', 'include-url', 'include-regex'],
  exclude: ['deny', 'reject', 'ignore', 'disallow', 'block', 'skip', 'exclude-url', 'exclude-regex'],
  host: ['domain', 'domains', 'hosts', 'site'],
  'allowed-hosts': [
    'domain',
    'domains',
    'hosts',
    'allowed-domains',
    'subdomains',
    'span-hosts',
    'include-subdomains',
  ],
  urls: ['input', 'input-file', 'url-file', 'url-list', 'from-file', 'seeds', 'list', 'i'],
  'start-urls': ['url', 'start', 'start-url', 'seed'],
  verbose: ['debug', 'verbosity', 'loud', 'log-level'],
  quiet: ['silent', 'no-output'],
  'max-redirects': ['follow-redirects', 'redirects', 'max-redirs', 'location'],
  timeout: ['request-timeout', 'time-limit', 'max-time'],
  retries: ['retry', 'tries', 'max-retries', 'retry-count', 'attempts'],
  'max-body-bytes': ['max-size', 'max-body-size', 'max-file-size', 'max-filesize', 'size-limit'],
  bodies: ['save', 'save-html', 'store-html', 'keep-html', 'save-bodies', 'archive', 'warc'],
  discover: ['sitemap', 'sitemaps', 'use-sitemap', 'use-sitemaps'],
  project: ['name', 'corpus', 'dataset', 'p'],
  mode: ['incremental', 'update', 'changed-only', 'smart', 'full'],
  broken: ['dead', 'dead-links', 'broken-links', 'errors', 'error', 'failed', 'check-links'],
  status: ['code', 'status-code', 'http-status'],
  state: ['states'],
  fresh: ['restart', 'new', 'reset', 'clean', 'force', 'overwrite'],
  'accept-language': ['language', 'lang'],
  path: ['prefix', 'path-prefix', 'folder', 'directory'],
  html: ['page', 'picture', 'report', ...OUTPUT_WORDS],
  'anchor-text': ['anchors', 'anchor', 'link-text'],
  run: ['id', 'run-id', 'crawl'],
};

/** Ours, with what has to be added → the words of others. */
const COMMAND_WORDS: Readonly<Record<string, readonly string[]>> = {
  'pages --broken': ['broken', 'errors', 'failed', 'gone', 'dead'],
  'links --broken': ['broken-links', 'dead-links', 'check', 'check-links', 'linkcheck', 'linkchecker'],
  'pages --state Queued': ['queue', 'queued', 'pending', 'frontier'],
  crawl: ['run', 'start', 'spider', 'scrape', 'scan', 'get', 'fetch', 'download', 'mirror', 'index'],
  resume: ['continue', 'restart', 'go'],
  pages: ['list', 'ls', 'urls', 'url', 'show', 'search', 'find', 'results'],
  links: ['backlinks', 'referrers', 'inlinks', 'outlinks'],
  changes: ['diff', 'changed', 'history', 'log'],
  stats: ['status', 'info', 'summary', 'statistics', 'count'],
  why: ['explain', 'reason', 'inspect'],
  hosts: ['domains', 'servers', 'sites'],
  runs: ['crawls', 'jobs'],
  cat: ['html', 'body', 'view', 'print'],
  export: ['graph', 'dump', 'gexf'],
  sitemap: ['sitemaps', 'feeds'],
  watch: ['monitor', 'daemon', 'schedule', 'cron'],
  project: ['projects', 'settings', 'set'],
  config: ['options', 'configuration', 'defaults'],
  forget: ['prune', 'clean', 'gc', 'delete', 'remove', 'vacuum'],
  copy: ['backup', 'migrate', 'import', 'cp'],
  demo: ['test', 'example', 'try'],
};

/** The flag that a word of others means among those that a command takes; null where none. Both with their dashes. */
export function flagMeant(flag: string, taken: readonly string[]): string | null {
  const word = flag.replace(/^--?/, '');
  const found = Object.entries(FLAG_WORDS).find(
    ([ours, words]) => words.includes(word) && taken.includes(`--${ours}`),
  );
  if (found !== undefined) return `--${found[0]}`;
  // A crawl writes into the database, and has no other output.
  return OUTPUT_WORDS.includes(word) && taken.includes('--max-pages') ? '--db' : null;
}

/** The same for option names without dashes, as in files. */
export function optionMeant(name: string, known: readonly string[]): string | null {
  const found = Object.entries(FLAG_WORDS).find(
    ([ours, words]) => words.includes(name) && known.includes(ours),
  );
  return found?.[0] ?? null;
}

/** The command that a word of others means. */
export function commandMeant(word: string): string | null {
  return Object.entries(COMMAND_WORDS).find(([, words]) => words.includes(word))?.[0] ?? null;
}

/** Every flag and command that is suggested, for the test that they exist. */
export const SUGGESTED = { flags: Object.keys(FLAG_WORDS), commands: Object.keys(COMMAND_WORDS) };

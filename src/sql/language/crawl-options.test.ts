import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load-config.ts';
import { OPTION_GROUPS, OPTION_NAMES } from '../../config/option-table.ts';
import { SumiError } from '../../errors.ts';
import { entriesOf, resolveOptions, type SessionSettings } from './crawl-options.ts';
import { CRAWL_OPTIONS, findOption, NAMED_OPTIONS, whyNoOption } from './option-names.ts';
import type { CrawlStatement } from './read-crawl.ts';
import { readStatement } from './read-statement.ts';

const CRAWL = 'CRAWL (SELECT 1) INTO t';

function resolve(text = '', settings: SessionSettings = { threads: 8 }) {
  const statement = readStatement(text === '' ? CRAWL : `${CRAWL} WITH (${text})`) as CrawlStatement;
  return resolveOptions(statement.options, settings);
}

function refused(text: string, settings?: SessionSettings): string {
  try {
    resolve(text, settings);
  } catch (error) {
    if (!(error instanceof SumiError)) throw error;
    const { line, column, problem } = error.details;
    expect(error.hint).toMatch(/^[A-Z].*\.$/);
    return line === undefined ? String(problem) : `${line}:${column} ${problem}`;
  }
  throw new Error(`taken: ${text}`);
}

const configOf = (text?: string, settings?: SessionSettings) => resolve(text, settings).config;
const shownOf = (name: string, text?: string, settings?: SessionSettings) => {
  const { value, source } = resolve(text, settings).shown.find((option) => option.name === name)!;
  return `${value} ${source}`;
};

describe('without WITH', () => {
  it('a crawl has the defaults of CRAWL', () => {
    const { config, own } = resolve();
    expect(config).toEqual({
      userAgent: null,
      concurrency: 8,
      perHost: 8,
      delay: 1,
      maxCrawlDelay: 60,
      robots: true,
      maxBodyBytes: 10_485_760,
      acceptTypes: ['*/*'],
      rejectTypes: [],
      compress: true,
      http2: false,
      allowedHosts: ['host'],
      maxDepth: 10,
      maxPages: null,
      respectNofollow: true,
      followCanonical: true,
      sitemapCacheHours: 24,
      retries: 5,
      maxRetryBackoff: 600,
      timeout: 30,
      headersTimeout: 30,
      bodyTimeout: 30,
      keepAlive: true,
      proxy: null,
      discover: ['sitemap'],
    });
    expect(own).toEqual({
      threads: 8,
      logSkipped: true,
      followLinks: false,
      sitemaps: 'auto',
      updateStale: false,
      batchSize: 100,
      background: false,
    });
  });

  it('each option is shown with its value and source', () => {
    const { shown } = resolve('', { threads: 8, defaultThreads: 8 });
    expect(shown.map(({ name }) => name)).toEqual(NAMED_OPTIONS.map(({ name }) => name));
    expect(new Set(shown.map(({ source }) => source))).toEqual(new Set(['default']));
    expect(shownOf('user_agent')).toMatch(/^SumiRipple\/.* default$/);
    expect(shownOf('max_crawl_pages')).toBe('none default');
    expect(shownOf('accept_content_types')).toBe(' default');
  });

  it('the configuration is one that a crawl takes', async () => {
    const config = await loadConfig({ profile: 'sql', env: {}, options: configOf() });
    expect(config).toMatchObject({ maxDepth: 10, concurrency: 8, retryBackoff: 'fibonacci' });
  });
});

describe('each option of WITH sets what it says', () => {
  it.each([
    [`user_agent 'MyBot/1.0'`, { userAgent: 'MyBot/1.0' }],
    ['threads 4', { concurrency: 4 }],
    ['threads 32, max_total_connections 5', { concurrency: 5 }],
    ['max_total_connections 100', { concurrency: 8 }],
    ['concurrency 3', { concurrency: 3 }],
    ['max_parallel_per_domain 2', { perHost: 2 }],
    ['default_crawl_delay 0.5', { delay: 0.5 }],
    ['min_crawl_delay 3', { delay: 3 }],
    ['default_crawl_delay 0, min_crawl_delay 0.2', { delay: 0.2 }],
    ['max_crawl_delay 5m', { maxCrawlDelay: 300 }],
    ['respect_robots_txt false', { robots: false }],
    ['max_response_bytes 10MB', { maxBodyBytes: 10_485_760 }],
    [`accept_content_types 'text/html, text/*'`, { acceptTypes: ['text/html', 'text/*'] }],
    [`accept_content_types ['text/html']`, { acceptTypes: ['text/html'] }],
    [`accept_content_types ''`, { acceptTypes: ['*/*'] }],
    [`reject_content_types 'image/*'`, { rejectTypes: ['image/*'] }],
    ['compress off', { compress: false }],
    ['http2 yes', { http2: true }],
    ['follow_links true', { discover: ['sitemap', 'links'] }],
    ['follow_links true, sitemaps never', { discover: ['links'] }],
    ['sitemaps always', { discover: ['sitemap'] }],
    ['sitemaps NEVER', { fetchOnly: true }],
    ['allow_subdomains true', { allowedHosts: ['subdomains'] }],
    [`allowed_hosts 'example.com, *.example.org'`, { allowedHosts: ['example.com', '*.example.org'] }],
    ['max_crawl_depth 3', { maxDepth: 3 }],
    ['max_crawl_depth none', { maxDepth: null }],
    ['max_crawl_pages 1_000', { maxPages: 1000 }],
    ['max_crawl_pages NULL', { maxPages: null }],
    ['respect_nofollow 0', { respectNofollow: false }],
    ['follow_canonical no', { followCanonical: false }],
    ['sitemap_cache_hours 1.5', { sitemapCacheHours: 1.5 }],
    ['max_retries 0', { retries: 0 }],
    ['max_retry_backoff_seconds 60', { maxRetryBackoff: 60 }],
    ['timeout_seconds 5', { timeout: 5, headersTimeout: 30, bodyTimeout: 30 }],
    ['timeout_seconds 120', { timeout: 120, headersTimeout: 120, bodyTimeout: 120 }],
    ['timeout_seconds 2h', { timeout: 7200, headersTimeout: 3600 }],
    ['timeout_seconds 120, headers_timeout 9', { headersTimeout: 9, bodyTimeout: 120 }],
    ['http_keep_alive false', { keepAlive: false }],
    [`http_proxy 'http://u:p@proxy:8080'`, { proxy: 'http://u:p@proxy:8080' }],
    ['http_proxy none', { proxy: 'none' }],
    ['user_agent none', { userAgent: null }],
    [`user_agent 'none'`, { userAgent: 'none' }],
    ['on_429 SUSPEND', { on429: 'suspend' }],
    [`exclude '/cart/{1,2}', skip-extensions pdf`, { exclude: ['/cart/{1,2}'], skipExtensions: ['pdf'] }],
    [`include ['/A/', '/B/']`, { include: ['/A/', '/B/'] }],
    ['max_redirects 2', { maxRedirects: 2 }],
  ])('(%s)', async (text, expected) => {
    expect(configOf(text)).toMatchObject(expected);
    const written = Object.keys(expected).filter((name) => name !== 'userAgent');
    const config = await loadConfig({ profile: 'sql', env: {}, options: configOf(text) });
    for (const name of written)
      expect(config[name as keyof typeof config]).toEqual(expected[name as keyof typeof expected]);
  });

  it.each([
    ['log_skipped false', { logSkipped: false }],
    ['update_stale true', { updateStale: true }],
    ['batch_size 20', { batchSize: 20 }],
    ['background true', { background: true }],
    ['sitemaps always', { sitemaps: 'always' }],
    ['follow_links true', { followLinks: true }],
    ['threads 1', { threads: 1 }],
  ])('(%s) in CRAWL alone', (text, expected) => {
    expect(resolve(text).own).toMatchObject(expected);
  });

  it('and is shown as of WITH, passwords masked', () => {
    expect(shownOf('max_retries', 'retries 2')).toBe('2 WITH');
    expect(shownOf('http_proxy', `proxy 'http://u:secret@proxy:8080'`)).toBe('http://u:***@proxy:8080 WITH');
    expect(shownOf('cookie', `cookie 'a=b'`)).toBe('*** WITH');
    expect(shownOf('on_429', 'on_429 suspend')).toBe('suspend WITH');
    expect(shownOf('user_agent', 'crawler_name Mine')).toBe('Mine default');
  });
});

describe('settings of the session', () => {
  it('count before the defaults, and WITH before them', () => {
    const settings = { threads: 4, defaultThreads: 16, http_timeout: 60, http_keep_alive: false };
    expect(configOf('', settings)).toMatchObject({
      concurrency: 4,
      timeout: 60,
      headersTimeout: 60,
      keepAlive: false,
    });
    expect(shownOf('threads', '', settings)).toBe('4 SET');
    expect(shownOf('timeout_seconds', '', settings)).toBe('60 SET');
    expect(shownOf('http_keep_alive', '', settings)).toBe('false SET');
    expect(shownOf('timeout_seconds', 'timeout_seconds 7', settings)).toBe('7 WITH');
    expect(configOf('http_keep_alive true', settings).keepAlive).toBe(true);
  });

  it.each([
    [64, 32],
    [1, 1],
    [12n, 12],
  ])('threads %s: %s', (threads, expected) => {
    expect(resolve('', { threads }).own.threads).toBe(expected);
  });

  it('nobody made: the defaults', () => {
    const unset = { threads: 2, http_timeout: null, http_keep_alive: undefined, http_proxy: '' };
    expect(configOf('', unset)).toMatchObject({ timeout: 30, keepAlive: true, proxy: null });
  });

  it.each([
    [{ http_proxy: 'proxy:8080' }, 'proxy:8080'],
    [
      { http_proxy: 'proxy:8080', http_proxy_username: 'u', http_proxy_password: 'p@:/' },
      'http://u:p%40%3A%2F@proxy:8080',
    ],
    [{ http_proxy: 'https://proxy', http_proxy_username: 'u' }, 'https://u@proxy'],
    [{ http_proxy: 'http://a:b@proxy', http_proxy_username: 'u' }, 'http://a:b@proxy'],
    [{ http_proxy: '', http_proxy_username: 'u', http_proxy_password: 'p' }, null],
  ])('%o is the proxy %s', async (given, proxy) => {
    const options = configOf('', { threads: 8, ...given });
    expect(options.proxy).toBe(proxy);
    await loadConfig({ profile: 'sql', env: {}, options });
  });

  it('that came from an expression and do not fit are an error', () => {
    expect(refused('', { threads: 8, http_timeout: 'abc' })).toMatch(
      /^The setting http_timeout is "abc"; expected seconds from 0.001 to 86400/,
    );
    expect(refused('', { threads: 8, http_proxy: 'ftp://u:secret@p' })).toMatch(
      /^The setting http_proxy is "ftp:\/\/u:\*\*\*@p"; expected the URL of a proxy/,
    );
  });
});

describe('values that do not fit are an error at their place', () => {
  it.each([
    ['threads 33', '1:39 threads is 33; expected a whole number from 1 to 32'],
    ['threads 0', '1:39 threads is 0; expected a whole number from 1 to 32'],
    [`user_agent '🦆'`, '1:42 user_agent is "🦆"; expected visible ASCII text'],
    ['max_retries -1', '1:43 max_retries is -1; expected a whole number from 0 to 100'],
    ['retries = many', '1:41 retries is many; expected a whole number from 0 to 100'],
    ['max_retries NULL', '1:43 max_retries is none; expected a whole number from 0 to 100'],
    ['sitemaps sometimes', '1:40 sitemaps is sometimes; expected auto, always or never'],
    ['follow_links 2', '1:44 follow_links is 2; expected true or false'],
    ['batch_size 0', '1:42 batch_size is 0; expected a whole number from 1 to 100000'],
    [
      `accept_content_types ['text/html', 'x']`,
      '1:52 accept_content_types is x; expected media types such as text/html, text/* or */*',
    ],
    ['max_crawl_pages 0', '1:47 max_crawl_pages is 0; expected a whole number of at least 1, or none'],
    [
      'timeout_seconds fast',
      '1:47 timeout_seconds is fast; expected seconds from 0.001 to 86400 (also as 500ms, 2m, 1h, 1d)',
    ],
    [
      `cookie 'secret'`,
      '1:38 cookie is "***"; expected NAME=VALUE, several as NAME=VALUE; NAME=VALUE, in visible ASCII',
    ],
  ])('(%s)', (text, error) => {
    expect(refused(text)).toBe(error);
  });

  it('also where only their meaning is wrong', () => {
    expect(refused(`http2 true, include '(a'`)).toMatch(/^1:51 include is "\(a"; expected .*\(a/);
    expect(refused(`http_proxy 'ftp://u:secret@x'`)).toMatch(
      /^1:42 http_proxy is "ftp:\/\/u:\*\*\*@x"; expected the URL/,
    );
  });
});

describe('the names', () => {
  it('are those of CRAWL and of all options of a crawl but those refused, in every spelling', () => {
    for (const option of OPTION_NAMES) {
      const name = option.replaceAll('-', '_');
      const found = [findOption(option), findOption(name), findOption(name.toUpperCase())];
      expect(new Set(found).size, option).toBe(1);
      if (found[0] === null) expect(whyNoOption(name).problem, option).toMatch(/cannot be set in CRAWL: \w/);
      else expect(CRAWL_OPTIONS.has(found[0]), option).toBe(true);
    }
  });

  it('of stores, output and watching are refused', () => {
    const { run, watch, workers, service } = OPTION_GROUPS;
    for (const { options } of [run, watch, workers, service])
      for (const name of Object.keys(options)) expect(findOption(name), name).toBeNull();
  });

  it.each([
    ['bodies', 'bodies are in the column body'],
    ['mode', 'which known rows are requested again is decided by update_stale'],
    ['start_urls', 'the URLs come from the query of CRAWL'],
    ['fetch_only_urls', 'the URLs come from the query of CRAWL'],
    ['webhook', 'it belongs to sumi watch'],
    ['egress_allow', 'it belongs to sumi serve'],
    ['database_path', 'what a CRAWL keeps is its table and the file beside it'],
    ['format', 'results come as rows'],
    ['http_proxy_password', 'it is a setting (SET http_proxy_password), or a part of http_proxy'],
  ])('%s is refused with its reason', (name, reason) => {
    expect(whyNoOption(name).problem).toBe(`${name} cannot be set in CRAWL: ${reason}`);
  });

  it('of a program are taken and refused in the same way', () => {
    const given = entriesOf({
      threads: 3,
      'max-retries': 2n,
      accept_types: ['text/html'],
      max_pages: null,
      robots: undefined,
    });
    expect(resolveOptions(given, { threads: 8 }).config).toMatchObject({
      concurrency: 3,
      retries: 2,
      acceptTypes: ['text/html'],
      maxPages: null,
      robots: true,
    });
    expect(() => entriesOf({ thread: 3 })).toThrow('WITH has no option thread');
    expect(() => entriesOf({ retries: 3, max_retries: 3 })).toThrow('retries and max_retries set the same');
    expect(() => resolveOptions(entriesOf({ threads: 99 }), { threads: 8 })).toThrow(
      'Threads is 99; expected a whole number from 1 to 32.',
    );
  });
});

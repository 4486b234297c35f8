/** The SQL functions as people know them: names, parameters with their defaults, and what duckdb_functions() says of them. */

export interface ListedFunction {
  name: string;
  kind: 'scalar' | 'table';
  /** `name` or `name := default`. */
  parameters: readonly string[];
  comment: string;
  /** Asks the web, and so takes its time. */
  isOfWeb: boolean;
}

const NO_TEXT = 'NULL::VARCHAR';
const OPTIONS = `options := ${NO_TEXT}`;
const WITH = 'Options are those of CRAWL … WITH, as in {threads: 4, timeout_seconds: 10}.';

export const FUNCTIONS: readonly ListedFunction[] = [
  {
    name: 'crawl',
    kind: 'table',
    parameters: ['url', OPTIONS],
    isOfWeb: true,
    comment: `Crawls a URL or a list of URLs and gives a row for each page, as CRAWL does, without a table. ${WITH}`,
  },
  {
    name: 'sitemap',
    kind: 'table',
    parameters: ['url', OPTIONS],
    isOfWeb: true,
    comment:
      'What the sitemaps of a host, of the site of a page, or a sitemap itself name. Takes a list, too.',
  },
  {
    name: 'links',
    kind: 'table',
    parameters: ['url', OPTIONS],
    isOfWeb: true,
    comment:
      'Fetches a page (or a list of them) and gives its links: where to, their text, rel, and nofollow.',
  },
  {
    name: 'robots_check',
    kind: 'table',
    parameters: ['url', `agent := ${NO_TEXT}`],
    isOfWeb: true,
    comment:
      'Whether robots.txt allows an agent (ours, if none is named) to request a URL, by which rule, and the seconds that it asks for between two requests.',
  },
  {
    name: 'fetch',
    kind: 'scalar',
    parameters: ['url', OPTIONS],
    isOfWeb: true,
    comment: `Fetches a URL and gives a STRUCT: http_status, body, content_type, error, error_type, final_url and more. Redirects are followed, robots.txt is obeyed. A URL is requested once a statement. ${WITH}`,
  },
  {
    name: 'crawls',
    kind: 'table',
    parameters: ['id := NULL::BIGINT'],
    isOfWeb: false,
    comment: 'The CRAWL statements of this session, as SHOW CRAWLS lists them; with an id that one alone.',
  },
  {
    name: 'normalize_url',
    kind: 'scalar',
    parameters: ['url'],
    isOfWeb: false,
    comment: 'The identity of a page, as in the column url of CRAWL; NULL for what is no http or https URL.',
  },
  {
    name: 'surt',
    kind: 'scalar',
    parameters: ['url'],
    isOfWeb: false,
    comment:
      'The URL with its host reversed, by which domains and their subdomains sort together: com,example)/path.',
  },
  {
    name: 'registrable_domain',
    kind: 'scalar',
    parameters: ['url'],
    isOfWeb: false,
    comment: 'The domain that somebody can register: example.co.uk for a URL or host name below it.',
  },
  {
    name: 'url_parts',
    kind: 'scalar',
    parameters: ['url'],
    isOfWeb: false,
    comment: 'STRUCT(scheme, host, port, path, query, fragment, domain) of a URL; NULL for what is no URL.',
  },
  {
    name: 'html_text',
    kind: 'scalar',
    parameters: ['html'],
    isOfWeb: false,
    comment: 'The text of HTML (text or BLOB) as a reader sees it, blocks on lines of their own.',
  },
  {
    name: 'html_links',
    kind: 'scalar',
    parameters: ['html', `base := ${NO_TEXT}`],
    isOfWeb: false,
    comment:
      'The links in HTML: a list of STRUCT(url, href, text, rel, nofollow); url is resolved against base.',
  },
  {
    name: 'html_table',
    kind: 'scalar',
    parameters: ['html', 'n := 1'],
    isOfWeb: false,
    comment:
      'The nth table in HTML, from 1: a list of rows, each a list of texts, the header first. NULL if there is none.',
  },
  {
    name: 'css_select',
    kind: 'scalar',
    parameters: ['html', 'selector', `attr := ${NO_TEXT}`],
    isOfWeb: false,
    comment: 'The text of all elements that a CSS selector finds in HTML, or their attribute attr.',
  },
];

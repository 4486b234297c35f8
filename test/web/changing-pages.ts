// Pages with a life of their own, for the fake web: they change by a version number, vanish and come back, answer
// conditional requests truthfully or not, and may be full of noise that is no change (nonces, tokens, white space, the
// time of day in the footer, or in places of other layouts). What a page is now is the test's to say; nothing changes by itself but noise.
import { answer, type Exchange, type FakeWebOptions, type Handler } from './fake-web.ts';
import type { Layout } from './noisy-layouts.ts';

export interface PageLife {
  /** What it says, by version. */
  text?: (version: number) => string;
  links?: readonly string[] | ((version: number) => readonly string[]);
  /** Into the head of the page. */
  head?: (version: number) => string;
  title?: (version: number) => string;
  /** Which validators it sends and honours (none). */
  validators?: 'etag' | 'date' | 'both' | 'none';
  /** Says “not modified” to every conditional request, whatever became of the page. */
  lies?: boolean;
  /** Says “not modified” to everybody, asked or not. */
  alwaysNotModified?: boolean;
  /** In place of the true ones. */
  etag?: string;
  lastModified?: string;
  cacheControl?: string;
  /** So long a cache on the way has kept it, in seconds. */
  age?: number;
  /** Other bytes each time, the same content. */
  isNoisy?: boolean;
  /** In place of <main> and <footer>: where the content stands, and where the noise. */
  layout?: Layout;
  /** Nothing is there until it is told to appear. */
  isHidden?: boolean;
}

export interface ChangingPages {
  pages: NonNullable<FakeWebOptions['pages']>;
  /** The page is another one now. */
  change(...paths: string[]): void;
  /** 404, or what is said. */
  vanish(path: string, status?: number): void;
  appear(path: string): void;
  /** Changes how it behaves from now on. */
  alter(path: string, life: PageLife): void;
}

interface Living {
  life: PageLife;
  version: number;
  changedAt: number;
  status: number;
}

/** Long ago, so that dates of the past are what a server of today would send. */
const BEGINNING = Date.UTC(2026, 0, 5, 12);
const HOUR = 3_600_000;

export function createChangingPages(lives: Record<string, PageLife>): ChangingPages {
  const living = new Map<string, Living>(
    Object.entries(lives).map(([path, life]) => [
      path,
      { life, version: 1, changedAt: BEGINNING, status: life.isHidden ? 404 : 200 },
    ]),
  );
  const at = (path: string): Living => {
    const found = living.get(path);
    if (found === undefined) throw new Error(`no page lives at ${path}`);
    return found;
  };
  const pages = Object.fromEntries(
    [...living].map(([path, page]): [string, Handler] => [path, (exchange) => respond(exchange, page)]),
  );
  return {
    pages,
    change(...paths) {
      for (const path of paths) {
        const page = at(path);
        page.version++;
        page.changedAt += HOUR;
      }
    },
    vanish: (path, status = 404) => {
      at(path).status = status;
    },
    appear: (path) => {
      at(path).status = 200;
    },
    alter: (path, life) => {
      at(path).life = { ...at(path).life, ...life };
    },
  };
}

function respond(exchange: Exchange, page: Living): void {
  const { life, status } = page;
  if (status !== 200) {
    answer(exchange, { status, body: '<title>Nothing here</title>' });
    return;
  }
  const headers = headersOf(exchange.path, page);
  if (isNotModified(exchange, life, headers)) {
    exchange.response.writeHead(304, headers).end();
    return;
  }
  answer(exchange, { headers, body: bodyOf(exchange, page) });
}

function headersOf(path: string, { life, version, changedAt }: Living): Record<string, string> {
  const { validators = 'none' } = life;
  const headers: Record<string, string> = {};
  if (validators === 'etag' || validators === 'both') headers.etag = `"${path}-${version}"`;
  if (validators === 'date' || validators === 'both')
    headers['last-modified'] = new Date(changedAt).toUTCString();
  if (life.etag !== undefined) headers.etag = life.etag;
  if (life.lastModified !== undefined) headers['last-modified'] = life.lastModified;
  if (life.cacheControl !== undefined) headers['cache-control'] = life.cacheControl;
  if (life.age !== undefined) headers.age = String(life.age);
  return headers;
}

function isNotModified({ request }: Exchange, life: PageLife, headers: Record<string, string>): boolean {
  if (life.alwaysNotModified) return true;
  const tag = request.headers['if-none-match'];
  const since = request.headers['if-modified-since'];
  if (life.lies) return tag !== undefined || since !== undefined;
  if (tag !== undefined) return tag === headers.etag;
  return since !== undefined && since === headers['last-modified'];
}

function bodyOf({ path, nth }: Exchange, { life, version }: Living): string {
  const links = typeof life.links === 'function' ? life.links(version) : (life.links ?? []);
  const text = life.text?.(version) ?? `What ${path} says, for the ${version}. time.`;
  const title = life.title?.(version) ?? `Page ${path}`;
  const noise = life.isNoisy ? noiseOf(nth) : { head: '', links: '', foot: '' };
  const anchors = links.map((href) => `<a href="${href}">${href}</a>`).join(' ');
  const content = `<h1>${title}</h1><p>${text}</p>`;
  const body = life.layout?.(content, noiseOf(nth).time) ?? `<main>${content}</main>${noise.foot}`;
  return `<!DOCTYPE html><html><head><title>${title}</title>${life.head?.(version) ?? ''}${noise.head}</head>
<body><nav>${anchors} ${noise.links}</nav>${body}</body></html>`;
}

/** What real pages have: a nonce, a token in a form and in links, other white space, the time in the footer. */
function noiseOf(nth: number): { head: string; links: string; time: string; foot: string } {
  const nonce = `${nth}${'a1b2c3d4e5f6'.slice(nth % 6)}${nth}`;
  const time = `12:00:${String(nth % 60).padStart(2, '0')} in ${nth} ms`;
  return {
    time,
    head: `<meta name="csrf-token" content="${nonce}"><script nonce="${nonce}">var t = ${nth};</script>${' '.repeat(nth)}`,
    links: `<a href="/logout?token=${nonce}">Log out</a>`,
    foot: `<footer>Generated at ${time}</footer>${'\n'.repeat(nth)}`,
  };
}

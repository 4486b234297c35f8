// A site for the tests of what is read: it changes between its two crawls, and some of it is hostile. Each store has one
// service with it for all tests of a file.
import { afterAll, beforeAll } from 'vitest';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import {
  type Loose,
  type StartOptions,
  type StoreKind,
  startService,
  type TestService,
} from './start-serving.ts';

export const HOSTILE_TITLE = '<script>alert(1)</script> =cmd|\' /C calc\'!A0 "x" & ]]> \u{202e}desrever';

const words = (text: string) => `<p>${text}</p>`;
const entity = (text: string) => text.replace(/[&<>]/g, (sign) => `&#${sign.codePointAt(0)};`);

/** What the site shows in its first version, and in the second. */
const PAGES: Record<string, [string | null, string | null]> = {
  '/docs/one': [
    `<title>One</title><h1>One</h1>${words('The quick brown fox jumps over the lazy dog.')}<a href="/docs/two">two</a>`,
    `<title>One, again</title><h1>One</h1>${words('The quick red fox jumps over the lazy dog.')}<a href="/docs/three">three</a>`,
  ],
  '/docs/two': [`<title>Two</title>${words('Second page.')}`, `<title>Two</title>${words('Second page.')}`],
  '/docs/three': [null, `<title>Three</title>${words('It is new.')}<a href="/missing">m</a>`],
  '/leaving': ['<title>Leaving</title><a href="/missing">m</a>', null],
  '/hostile': [
    `<title>${entity(HOSTILE_TITLE)}</title><h1>\u0001\u0007control</h1>${words('x'.repeat(5000))}`,
    `<title>${entity(HOSTILE_TITLE)}!</title><h1>\u0001\u0007control</h1>${words('x'.repeat(5000))}`,
  ],
  '/noindex': [
    '<meta name="robots" content="noindex"><title>Hidden</title>',
    '<meta name="robots" content="noindex"><title>Hidden</title>',
  ],
};
const HOME = `<title>Home</title><h1>Welcome</h1>${words('All pages.')}
  ${[...Object.keys(PAGES), '/missing', '/broken', '/private/x', '/moved'].map((path) => `<a href="${path}">${path}</a>`).join(' ')}
  <a href="/q?x=%3Cscript%3E&y='%22">odd</a><a href="http://127.0.0.2:9/outside">outside</a>`;

export interface ReadWorld {
  service: TestService;
  web: FakeWeb;
  id: string;
  /** Another project, of one page. */
  otherId: string;
  read<Body = Loose>(path: string): Promise<Body>;
  /** The page of this path. */
  page(path: string): Promise<Loose>;
  /** All items of a list, page by page of results. */
  all(path: string, limit?: number): Promise<Loose[]>;
}

export async function makeReadWorld(
  store: StoreKind,
  options: object = {},
  tokens: StartOptions['tokens'] = [],
) {
  let version = 0;
  const pages = Object.fromEntries(
    Object.entries(PAGES).map(([path, versions]) => [
      path,
      ({ response }: Loose) => {
        const body = versions[version];
        response.writeHead(body === null ? 404 : 200, {
          'content-type': 'text/html; charset=utf-8',
          etag: `"${path}"`,
        });
        response.end(body ?? 'gone');
      },
    ]),
  );
  const web = await startFakeWeb({
    robots: 'User-agent: *\nDisallow: /private/\n',
    pages: {
      ...pages,
      '/': HOME,
      '/q': '<title>Odd</title>',
      '/broken': { status: 500, body: 'broken' },
      '/moved': { status: 301, headers: { location: '/docs/two' } },
      '/other': '<title>Other</title>',
    },
  });
  const { service, remove } = await startService({
    ...{ store, tokens, options: { retries: 0, ...options } },
  });
  const id = await service.project('Read & <me>', web.origin, { retries: 0 });
  const otherId = await service.project('other', web.url('/other'));
  await service.crawl(id);
  version = 1;
  await service.crawl(id, { mode: 'full' });
  await service.crawl(otherId);
  const world: ReadWorld = {
    ...{ service, web, id, otherId },
    async read(path) {
      const { status, body } = await service.get(`projects/${id}/${path}`);
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    async page(path) {
      const pages = await world.all('pages');
      return pages.find(({ url }) => url === web.url(path));
    },
    async all(path, limit = 3) {
      const items: Loose[] = [];
      let cursor = '';
      do {
        const sign = path.includes('?') ? '&' : '?';
        const answer = await world.read<Loose>(`${path}${sign}limit=${limit}${cursor}`);
        items.push(...answer.items);
        cursor = answer.next_cursor === null ? '' : `&cursor=${answer.next_cursor}`;
      } while (cursor !== '');
      return items;
    },
  };
  const end = async () => {
    await service.stop();
    await web.close();
    await remove();
  };
  return { world, end };
}

/** One for all tests of a `describe`. */
export function useReadWorld(store: StoreKind, options: object = {}): () => ReadWorld {
  let made: Awaited<ReturnType<typeof makeReadWorld>> | null = null;
  beforeAll(async () => {
    made = await makeReadWorld(store, options);
  }, 60_000);
  afterAll(async () => {
    await made?.end();
  });
  return () => made!.world;
}

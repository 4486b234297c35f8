// A small terrain on the fake web, with one of everything: two quality domains, a discovered one with a page beyond the
// depth, a blacklisted and a stubbed one, one that answers 429, and one where nobody listens.
import { writeFileSync } from 'node:fs';
import { answer, type Exchange, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';

export const HOSTS = {
  quality: '127.0.0.1',
  second: '127.0.0.2',
  discovered: '127.0.0.3',
  blacklist: '127.0.0.4',
  stub: '127.0.0.5',
  limited: '127.0.0.6',
  refused: '127.0.0.250',
} as const;

const link = (href: string) => `<a href="${href}">x</a>`;

export async function startTerrainWeb(): Promise<FakeWeb> {
  const page = (exchange: Exchange, title: string, ...hrefs: string[]) =>
    answer(exchange, { body: `<title>${title}</title>${hrefs.map(link).join(' ')}` });
  return startFakeWeb({
    hosts: 6,
    robots: 'User-agent: *\nDisallow: /private/\n',
    pages: {
      '0:/': (at) =>
        page(
          at,
          '| # [Home](javascript:alert) |',
          '/a',
          '/b',
          '/dead',
          '/private/x',
          at.url('/', 1),
          at.url('/', 2),
          at.url('/tracker?a=|b|&c=*x*', 3),
          at.url('/repo', 4),
          at.url('/', 5),
          at.url('/nobody', 5).replace(HOSTS.limited, HOSTS.refused),
        ),
      '0:/a': (at) => page(at, 'A', '/', at.url('/repo', 4), at.url('/_other_repo', 4), at.url('/pixel', 3)),
      '0:/b': (at) => page(at, 'B', at.url('/tracker?a=|b|&c=*x*', 3)),
      '1:/': (at) => page(at, 'Second', '/moved', at.url('/deep', 2)),
      '1:/moved': (at) => answer(at, { status: 301, headers: { location: at.url('/pixel', 3) } }),
      '2:/': (at) => page(at, 'Found', '/b'),
      '2:/b': (at) => page(at, 'B', '/c'),
      '2:/deep': (at) => page(at, 'Deep', at.url('/repo', 4)),
      '5:/': { status: 429 },
    },
  });
}

/** Writes a terrain file for it; what is given comes under [crawler]. */
export function writeTerrain(file: string, web: FakeWeb, crawler = 'max-depth = 2'): void {
  writeFileSync(
    file,
    `[crawler]
${crawler}
minimum-time-on-page = 100
allow-http = true

[user-agent]
crawler-name = "TestMapper"
crawler-version = "1.0"
contact-url = "https://example.com/bot"

[output]
database-path = "map.db"
summary-path = "map.md"

[[quality]]
domain = "${HOSTS.quality}"
seeds = ["${web.url('/', 0)}"]

[[quality]]
domain = "${HOSTS.second}"
seeds = ["${web.url('/', 1)}"]

[[blacklist]]
domain = "${HOSTS.blacklist}"

[[stub]]
domain = "${HOSTS.stub}"
`,
  );
}

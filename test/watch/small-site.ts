// A small site whose pages change, go and fail as a test says.
import { page } from '../crawls/crawl-site.ts';
import { answer, type Exchange, type FakeWebOptions } from '../web/fake-web.ts';

export const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

/** A home page and so many others; `state` may change under way. */
export function site(count: number) {
  const state = {
    versions: new Map<string, number>(),
    gone: new Set<string>(),
    failing: new Set<string>(),
    links: numbers(count).map((n) => `/p${n}`),
  };
  const serve = (exchange: Exchange) => {
    const { path } = exchange;
    if (state.gone.has(path)) return answer(exchange, { status: 404, body: 'gone' });
    if (state.failing.has(path)) return answer(exchange, { status: 500, body: 'broken' });
    const version = state.versions.get(path) ?? 0;
    const body = page(`${path} version ${version}`, ...(path === '/' ? state.links : []));
    answer(exchange, { body });
  };
  const pages: FakeWebOptions['pages'] = { '/': serve, '/p*': serve };
  return { state, pages };
}

/** Which methods there are at a path: for the answer to a wrong one. */
import type { ApiServer } from './api-deps.ts';

export interface RouteList {
  /** Empty where nothing is at the path. */
  methodsOf(path: string): string[];
}

/** Notes every route that is registered after it. */
export function noteRoutes(app: ApiServer): RouteList {
  const byPattern = new Map<string, { shape: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    const noted = byPattern.get(url) ?? { shape: shapeOf(url), methods: new Set<string>() };
    for (const one of [method].flat()) noted.methods.add(one);
    byPattern.set(url, noted);
  });
  return {
    methodsOf(path) {
      const found = [...byPattern.values()].filter(({ shape }) => shape.test(path));
      return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
    },
  };
}

function shapeOf(url: string): RegExp {
  const parts = url
    .split('/')
    .map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${parts.join('/')}$`);
}

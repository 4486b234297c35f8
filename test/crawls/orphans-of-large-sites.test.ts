// Orphans of a project that is too large for the run to walk all its links: a crawl on each store, with the limit at nothing.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { startCrawl } from '../../src/crawl/start-crawl.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { createChangingPages } from '../web/changing-pages.ts';
import { useBench } from './crawl-site.ts';

vi.mock('../../src/crawl/run/most-walked.ts', () => ({ mostWalked: () => 0 }));

const bench = useBench();
const drops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const drop of drops.splice(0)) await drop();
});

async function newStore(kind: 'SQLite' | 'PostgreSQL'): Promise<{ db: string } | { store: string }> {
  if (kind === 'SQLite') return { db: bench.file().path };
  const server = await sharedPostgres();
  const store = await server.newDatabase();
  drops.push(() => server.dropDatabase(store));
  return { store };
}

describe.each(['SQLite', 'PostgreSQL'] as const)('a site too large to be walked, on %s', (kind) => {
  it('has orphans where no page leads, and none where a page leads that nobody reaches', async () => {
    const site = createChangingPages({
      '/': { links: (version) => (version === 2 ? ['/stays'] : ['/lost', '/island', '/stays']) },
      '/lost': {},
      '/island': { links: ['/shore'] },
      '/shore': { links: ['/island'] },
      '/stays': {},
    });
    const web = await bench.web({ pages: site.pages });
    const store = await newStore(kind);
    const crawl = async () => {
      const options = { delay: 0, adaptiveDelay: false, discover: ['links'], ...store };
      const config = await loadConfig({ env: {}, options });
      return (await startCrawl({ config, startUrls: [web.url('/')] })).finished;
    };
    await crawl();
    site.change('/');
    expect(await crawl()).toMatchObject({ gone: 1, changed: 1, unchanged: 3 });
    site.change('/');
    expect(await crawl()).toMatchObject({ gone: 0, changed: 2, unchanged: 3 });
  });
});

// The text that a crawl stores, on both stores: in lines, code as written, no permalinks; and a store that was filled by
// an older version, whose texts stood on one line, is told of no change that is none.
import { describe, expect, it } from 'vitest';
import { openReadSide } from '../../src/store/open-store.ts';
import type { ChangeRow } from '../../src/store/read-side.ts';
import { answer, type FakeWebOptions } from '../web/fake-web.ts';
import { useBench } from './crawl-site.ts';
import { crawlInto, eachStore, type StorePlace } from './each-store.ts';

const bench = useBench();

const HEADING = '<h1>Install<br>it<a class="headerlink" href="#install">¶</a></h1>';
const CODE = '<pre>npm install\n  sumi-ripple\n</pre>';
/** By the number of the visit: other bytes around the same text, then another word. */
const html = (visit: number) =>
  `<title>Home</title>${visit === 1 ? '' : `<meta name="build" content="${visit}">`}<main>${HEADING}<p>First step.</p>${CODE}
  <p>${visit < 3 ? 'Then' : 'Afterwards'} wait.</p></main>`;

const pages = (): FakeWebOptions['pages'] => ({
  '/': (exchange) => answer(exchange, { body: html(exchange.nth) }),
});

const SHAPED = 'Install\nit\nFirst step.\nnpm install\n  sumi-ripple\nThen wait.';
const FOLDED = 'Install it¶ First step. npm install sumi-ripple Then wait.';

async function textIn(at: StorePlace): Promise<string | null> {
  const side = await openReadSide(at.options.db ?? at.options.store!);
  try {
    return await side.pageText(1);
  } finally {
    await side.close();
  }
}

async function changesIn(at: StorePlace, run: number): Promise<ChangeRow[]> {
  const side = await openReadSide(at.options.db ?? at.options.store!);
  try {
    const [{ id }] = await side.projects();
    const found: ChangeRow[] = [];
    for await (const row of side.changes({ projectId: id, fromRun: run, toRun: run })) found.push(row);
    return found;
  } finally {
    await side.close();
  }
}

for (const [name, place] of Object.entries(eachStore(bench))) {
  describe(`the text that is stored on ${name}`, () => {
    it('has its lines, and is the same in the view', async () => {
      const web = await bench.web({ pages: pages() });
      const at = await place();
      await (await crawlInto(at, web.url('/'), { storeText: true })).handle.finished;
      expect(await textIn(at)).toBe(SHAPED);
      expect(await at.rows('SELECT content_text, word_count FROM crawled_pages')).toEqual([
        { content_text: SHAPED, word_count: 9 },
      ]);
    });

    it('of an older version is no change of its shape, and a changed word is told alone', async () => {
      const web = await bench.web({ pages: pages() });
      const at = await place();
      const options = { storeText: true, mode: 'incremental' } as const;
      await (await crawlInto(at, web.url('/'), options)).handle.finished;
      // As that version stored it: the heading's lines not parted, its sign kept, all of it on one line.
      await at.change(`UPDATE page_text SET text = '${FOLDED}'; UPDATE fetched SET h1 = 'Installit¶';`);
      const same = await (await crawlInto(at, web.url('/'), options)).handle.finished;
      expect(same).toMatchObject({ changed: 0, unchanged: 1 });
      expect(await changesIn(at, 2)).toEqual([]);
      expect(await textIn(at)).toBe(SHAPED);
      await at.change(`UPDATE page_text SET text = '${FOLDED}';`);
      const other = await (await crawlInto(at, web.url('/'), options)).handle.finished;
      expect(other).toMatchObject({ changed: 1, unchanged: 0 });
      const [change] = await changesIn(at, 3);
      expect(change.change).toMatchObject({ parts: ['text'], wordsAdded: 1, wordsRemoved: 1 });
      expect(await textIn(at)).toBe(SHAPED.replace('Then', 'Afterwards'));
    });

    it('is the same while its words are, though a sign that is left out made its only line', async () => {
      const only = (visit: number) =>
        `<title>Visit ${visit}</title><main><h1>Heading<a href="#top">¶</a></h1></main>`;
      const web = await bench.web({
        pages: { '/': (exchange) => answer(exchange, { body: only(exchange.nth) }) },
      });
      const at = await place();
      const options = { storeText: true, mode: 'incremental' } as const;
      await (await crawlInto(at, web.url('/'), options)).handle.finished;
      expect(await textIn(at)).toBe('Heading');
      await (await crawlInto(at, web.url('/'), options)).handle.finished;
      const [{ change }] = await changesIn(at, 2);
      expect(change).toMatchObject({ parts: ['title'], wordsAdded: 0, wordsRemoved: 0 });
    });
  });
}

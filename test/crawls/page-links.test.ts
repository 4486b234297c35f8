// Links as browsers have them: queries in the charset of the page, links of svg, frames; on both stores.
import { describe, expect, it } from 'vitest';
import { openReadSide } from '../../src/store/open-store.ts';
import type { FakeWebOptions } from '../web/fake-web.ts';
import { asked, page, useBench } from './crawl-site.ts';
import { crawlInto, eachStore, type StorePlace } from './each-store.ts';

const bench = useBench();
const STORES = Object.entries(eachStore(bench));

const FRAMES: FakeWebOptions['pages'] = {
  '/': page('Home', '/set', '/inline'),
  '/set': '<frameset cols="1,2"><frame src="/left"><frame src="right"></frameset>',
  '/inline': '<p>x</p><iframe src="/widget"></iframe><iframe src="/linked"></iframe><iframe></iframe>',
  '/left': page('Left'),
  '/right': page('Right', '/linked'),
  '/widget': page('Widget'),
  '/linked': page('Linked'),
};

async function relsIn(at: StorePlace): Promise<Record<string, string>> {
  const side = await openReadSide(at.options.db ?? at.options.store!);
  const rels: Record<string, string> = {};
  try {
    for await (const { from_url, to_url, rel } of side.links({}))
      rels[`${new URL(from_url).pathname} → ${new URL(to_url).pathname}`] = rel;
  } finally {
    await side.close();
  }
  return rels;
}

for (const [name, place] of STORES) {
  describe(`frames, on ${name}`, () => {
    it('of a frameset are followed, iframes are recorded, and each link says which it is', async () => {
      const web = await bench.web({ pages: FRAMES });
      const at = await place();
      await (await crawlInto(at, web.url('/'))).handle.finished;
      expect(asked(web).sort()).toEqual(['/', '/inline', '/left', '/linked', '/right', '/set']);
      expect(await at.rows("SELECT state, reason FROM pages WHERE fetch_url LIKE '%/widget'")).toEqual([
        { state: 'Skipped', reason: 'frame: iframes are not followed' },
      ]);
      expect(await relsIn(at)).toEqual({
        '/ → /set': '',
        '/ → /inline': '',
        '/set → /left': 'frame',
        '/set → /right': 'frame',
        '/inline → /widget': 'iframe',
        '/inline → /linked': 'iframe',
        '/right → /linked': '',
      });
    });

    it('are all followed, or none, where that is asked for, also of a store that knows them', async () => {
      const web = await bench.web({ pages: FRAMES });
      const at = await place();
      await (await crawlInto(at, web.url('/'), { followFrames: 'none' })).handle.finished;
      expect(asked(web).sort()).toEqual(['/', '/inline', '/set']);
      const from = web.log.length;
      await (await crawlInto(at, web.url('/'), { followFrames: 'all', mode: 'full' })).handle.finished;
      const paths = web.log.slice(from).map(({ path }) => path);
      expect(paths.filter((path) => path !== '/robots.txt').sort()).toEqual(
        ['/', '/inline', '/left', '/linked', '/right', '/set', '/widget'].sort(),
      );
    });
  });

  describe(`the query of a link, on ${name}`, () => {
    it('is sent in the charset of the page that has it', async () => {
      const link = (path: string) => `<a href="${path}">x</a>`;
      const pageIn = (charset: string, body: Buffer) => ({
        headers: { 'content-type': `text/html; charset=${charset}` },
        body,
      });
      const latin = Buffer.from(link('/ä?q=ä&x=1#ä'), 'latin1');
      const web = await bench.web({
        pages: {
          '/': page('Home', '/latin', '/utf8', '/sjis', '/greek'),
          '/latin': pageIn('windows-1252', latin),
          // The same letters under the same folder, in another charset.
          '/utf8': pageIn('utf-8', Buffer.from(link('/ä?q=ä&x=1#ä'))),
          // 日本 and a letter that the charset does not have.
          '/sjis': pageIn(
            'shift_jis',
            Buffer.concat([
              Buffer.from('<a href="/s?q='),
              Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
              Buffer.from('&eacute;">x</a>'),
            ]),
          ),
          '/greek': pageIn(
            'iso-8859-7',
            Buffer.concat([
              Buffer.from('<a href="/g?'),
              Buffer.from([0xe1]),
              Buffer.from("='&#8364;'\">x</a>"),
            ]),
          ),
        },
      });
      const at = await place();
      await (await crawlInto(at, web.url('/'))).handle.finished;
      const urls = (await at.rows('SELECT fetch_url FROM pages')).map(({ fetch_url }) => String(fetch_url));
      expect(
        urls
          .filter((url) => url.includes('?'))
          .map((url) => url.slice(web.origin.length))
          .sort(),
      ).toEqual([
        '/%C3%A4?q=%C3%A4&x=1',
        '/%C3%A4?q=%E4&x=1',
        '/g?%E1=%27%A4%27',
        '/s?q=%93%FA%96{%26%23233%3B',
      ]);
    });
  });
}

describe('a page that is XML', () => {
  it('is read as XML by its type, and by its root where the type says no more than that', async () => {
    const body = (more: string) =>
      `<html xmlns="http://www.w3.org/1999/xhtml"><head><script src="/s.js"/><title>T</title></head><body>${more}</body></html>`;
    const typed = (type: string, text: string) => ({ headers: { 'content-type': type }, body: text });
    const web = await bench.web({
      pages: {
        '/': typed('application/xhtml+xml', body('<a href="/xml"/><a href="/data"/><a href="/broken"/>')),
        '/xml': typed('text/xml', `<?xml version="1.0"?>${body('<a href="/last"/>')}`),
        '/data': typed('text/xml', '<data><a href="/no"/></data>'),
        '/broken': typed('application/xhtml+xml', '<title>B</title><p>a<br>b<a href=/end>x'),
        '/last': page('Last'),
        '/end': page('End'),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { acceptTypes: ['*/*'] });
    expect(asked(web).sort()).toEqual(['/', '/broken', '/data', '/end', '/last', '/xml']);
    expect(['/', '/xml', '/data', '/broken'].map((path) => file.page(path).title)).toEqual([
      'T',
      'T',
      null,
      'B',
    ]);
  });
});

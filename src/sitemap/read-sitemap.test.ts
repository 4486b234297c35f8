import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { EntryDraft } from './entry-draft.ts';
import type { PlainEntry } from './plain-entries.ts';
import { readSitemap } from './read-sitemap.ts';
import type { SitemapEntry, SitemapOutcome } from './sitemap-outcome.ts';

interface Options {
  contentType?: string;
  maxBytes?: number;
  pieceBytes?: number;
}

async function read(
  body: string | Uint8Array,
  { contentType, maxBytes = 50_000_000, pieceBytes = 65_536 }: Options = {},
): Promise<SitemapOutcome & { found: SitemapEntry[]; pushed: number }> {
  const bytes = Buffer.from(body);
  const found: SitemapEntry[] = [];
  const reader = readSitemap({
    url: 'https://example.com/maps/s.xml',
    contentType: contentType ?? null,
    maxBytes,
    onEntry: (entry) => found.push(entry),
  });
  let pushed = 0;
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    pushed = at + pieceBytes;
    if (!(await reader.push(bytes.subarray(at, pushed)))) break;
  }
  return { ...(await reader.end()), found, pushed };
}

const urlset = (inside: string, attributes = '') => `<urlset ${attributes}>${inside}</urlset>`;
const entry = (path: string) => `<url><loc>https://example.com/${path}</loc></url>`;
const urls = ({ found }: { found: SitemapEntry[] }) => found.map(({ url }) => url);

describe('the entries of a sitemap', () => {
  it('are the same however its bytes are cut', async () => {
    const body = `\ufeff<?xml version="1.0" encoding="UTF-8"?><!-- <url><loc>https://example.com/no</loc></url> -->
      <!DOCTYPE urlset [<!ENTITY x "]>'"> <!-- don't > ] --> ]>
      ${urlset(`${entry('ä?a=1&amp;b=&#50;')}<url ><loc><![CDATA[ https://example.com/c?<d>&e ]]></loc>
        <lastmod> 2024-01-02 </lastmod><priority>0,7</priority><changefreq>DAILY</changefreq></url>`)}`;
    const whole = await read(body);
    expect(whole.problem).toBeNull();
    expect(urls(whole)).toEqual(['https://example.com/%C3%A4?a=1&b=2', 'https://example.com/c?%3Cd%3E&e']);
    expect(whole.found[1]).toMatchObject({ lastmod: '2024-01-02', priority: 0.7, changefreq: 'daily' });
    for (const pieceBytes of [1, 2, 3, 7, 64]) {
      const { found, ...outcome } = await read(body, { pieceBytes });
      expect([pieceBytes, found]).toEqual([pieceBytes, whole.found]);
      expect(outcome.problem).toBeNull();
    }
  });

  it('are read from RSS 1.0 and Atom whose elements have a prefix', async () => {
    const rss = await read(`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
      xmlns:r='http://purl.org/rss/1.0/' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/">
      <r:channel rdf:about="https://example.com/"><r:link>https://example.com/</r:link></r:channel>
      <r:item rdf:about="https://example.com/1"><r:title>1</r:title><media:link>https://example.com/no</media:link>
        <r:link>https://example.com/1</r:link><dc:date>2024-01-02</dc:date></r:item>
      <r:item rdf:about="https://example.com/2"><r:link>https://example.com/2</r:link></r:item></rdf:RDF>`);
    expect([rss.kind, urls(rss)]).toEqual(['rss', ['https://example.com/1', 'https://example.com/2']]);
    expect(rss.found[0].lastmod).toBe('2024-01-02');
    const atom = await read(
      '<feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:link href="/3"/></a:entry></feed>',
    );
    expect(urls(atom)).toEqual(['https://example.com/3']);
  });

  it('are the same whether they are written plainly, which is read at a glance, or not', async () => {
    const fields = [
      '<lastmod>2024-01-02</lastmod>',
      '<lastmod> 2024-01-02T03:04:05+01:00\n</lastmod>',
      '<lastmod>soon</lastmod>',
      '<lastmod></lastmod>',
      '<changefreq>Weekly</changefreq>',
      '<changefreq>sometimes</changefreq>',
      '<priority>0.7</priority>',
      '<priority>17</priority>',
      '<priority>high</priority>',
    ];
    const places = [
      'https://example.com/a',
      ' https://example.com/b\n',
      '/c',
      'd',
      'https://[',
      'HTTP://x.org',
      '',
    ];
    const wholes = places.flatMap((place) => [
      `<url><loc>${place}</loc></url>`,
      ...fields.map((one) => `<url>\n<loc>${place}</loc>\n ${one}\n</url>\n`),
      ...fields.flatMap((one) => fields.map((other) => `<url><loc>${place}</loc>${one}${other}</url>`)),
      `<url>${fields[0]}<loc>${place}</loc></url>`,
    ]);
    const plain = await read(urlset(wholes.join('')));
    // A blank inside the tags changes nothing but the way they are read.
    const other = await read(urlset(wholes.join('').replaceAll('>', ' >')));
    expect(wholes).toHaveLength(places.length * (1 + 9 + 81 + 1));
    expect(plain.found).toEqual(other.found);
    expect(plain.found).toHaveLength(4 * 92);
    expect([plain.entries, plain.dropped, plain.problem]).toEqual([other.entries, other.dropped, null]);
    const pieces = await read(urlset(wholes.join('')), { pieceBytes: 41 });
    expect(pieces.found).toEqual(plain.found);
  });

  it('have images, videos, news and languages, whatever the prefix', async () => {
    const { found } = await read(
      urlset(
        `<url><loc>https://example.com/a</loc>
          <i:image><i:loc>https://example.com/1.png</i:loc><i:title>x</i:title></i:image>
          <image xmlns="http://www.google.com/schemas/sitemap-image/1.1"><loc>/2.png</loc></image>
          <video:video><video:thumbnail_loc>https://example.com/t.png</video:thumbnail_loc><video:title>V &amp; W</video:title>
            <video:player_loc>https://example.com/player</video:player_loc>
            <video:content_loc>https://example.com/v.mp4</video:content_loc></video:video>
          <news:news><news:publication><news:name>The Times</news:name><news:language>en</news:language></news:publication>
            <news:publication_date>2024-01-02</news:publication_date><news:title>T</news:title></news:news>
          <xhtml:link rel="alternate" hreflang="de" href="https://example.com/de?a&amp;b"/>
          <xhtml:link rel='canonical' href='https://example.com/c'/>
          <lastmod>2024-03-04</lastmod></url>`,
      ),
    );
    expect(found).toEqual([
      {
        url: 'https://example.com/a',
        lastmod: '2024-03-04',
        lastmodAt: Date.UTC(2024, 2, 4),
        changefreq: null,
        priority: null,
        images: ['https://example.com/1.png', 'https://example.com/2.png'],
        videos: [
          { title: 'V & W', url: 'https://example.com/v.mp4', thumbnail: 'https://example.com/t.png' },
        ],
        news: { publication: 'The Times', language: 'en', title: 'T', published: '2024-01-02' },
        alternates: [{ hreflang: 'de', url: 'https://example.com/de?a&b' }],
      },
    ]);
  });

  it('come from RSS and Atom, each from its own link and date', async () => {
    const rss =
      await read(`<rss xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
      <link>https://example.com/</link><image><url>https://example.com/i.png</url><link>https://example.com/</link></image>
      <item><title>A</title><atom:link href="https://example.com/self"/><link>https://example.com/a</link>
        <description><![CDATA[<link>https://example.com/no</link>]]></description><dc:date>2024-01-02</dc:date></item>
      <item><guid>https://example.com/b</guid><pubDate>Tue, 02 Jan 2024 00:00:00 GMT</pubDate></item>
      <item><guid isPermaLink="false">https://example.com/no</guid></item></channel></rss>`);
    expect([rss.kind, urls(rss), rss.dropped]).toEqual([
      'rss',
      ['https://example.com/a', 'https://example.com/b'],
      1,
    ]);
    expect(rss.found.map(({ lastmodAt }) => lastmodAt)).toEqual([Date.UTC(2024, 0, 2), Date.UTC(2024, 0, 2)]);
    const atom = await read(`<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.com/"/>
      <entry><published>2023-01-01</published><updated>2024-01-02</updated><link rel="self" href="/no"/><link href="b.html"/>
      <source><link href="https://example.com/no"/><updated>1999-01-01</updated></source></entry></feed>`);
    expect([atom.kind, urls(atom), atom.found[0].lastmod]).toEqual([
      'atom',
      ['https://example.com/maps/b.html'],
      '2024-01-02',
    ]);
  });

  it('have addresses relative to the bases that an Atom feed gives', async () => {
    const atom = await read(`<feed xml:base="https://example.com/blog/"><entry><link href="one"/></entry>
      <entry xml:base="2024/"><link href="two"/></entry><entry><link xml:base="/other/" href="three"/></entry>
      <entry><link href="/four"/></entry></feed>`);
    expect(urls(atom)).toEqual(
      ['blog/one', 'blog/2024/two', 'other/three', 'four'].map((path) => `https://example.com/${path}`),
    );
  });

  it('are read in UTF-16 and in old encodings', async () => {
    const body = `<?xml version="1.0" encoding="utf-16"?>${urlset(entry('ω'))}`;
    const little = Buffer.from(body, 'utf16le');
    const want = ['https://example.com/%CF%89'];
    expect(urls(await read(little))).toEqual(want);
    expect(urls(await read(Buffer.concat([Buffer.from([0xff, 0xfe]), little]), { pieceBytes: 3 }))).toEqual(
      want,
    );
    expect(urls(await read(Buffer.from(little).swap16()))).toEqual(want);
    const greek = Buffer.from(
      `<?xml version="1.0" encoding="ISO-8859-7"?>${urlset(entry('\u00f9'))}`,
      'latin1',
    );
    expect(urls(await read(greek))).toEqual(want);
    expect(urls(await read(gzipSync(little)))).toEqual(want);
  });

  it('are one a line in a text, with any end of line, and other lines do not count', async () => {
    const text = await read(
      '\ufeffhttps://example.com/a\r\n\n# note\rHTTP://EXAMPLE.com/b\nhttps://example.com/c',
      {
        pieceBytes: 5,
      },
    );
    expect([text.kind, urls(text), text.dropped]).toEqual([
      'text',
      ['https://example.com/a', 'http://example.com/b', 'https://example.com/c'],
      1,
    ]);
  });
});

describe('bad input gives an outcome with a reason', () => {
  const troubleOf = async (body: string | Uint8Array, options?: Options) => {
    const { kind, problem, entries } = await read(body, options);
    return [kind, problem?.trouble ?? null, entries];
  };

  it('what is no sitemap', async () => {
    expect(await troubleOf('')).toEqual([null, 'empty', 0]);
    expect(await troubleOf(' \n ')).toEqual([null, 'empty', 0]);
    expect(await troubleOf('nothing to see here')).toEqual([null, 'not-sitemap', 0]);
    expect(await troubleOf('{"error": 404}')).toEqual([null, 'not-sitemap', 0]);
    expect(await troubleOf('\n<!DOCTYPE html><html><body>Not found')).toEqual([null, 'html', 0]);
    expect(await troubleOf('<HTML><url><loc>https://example.com/</loc></url>')).toEqual([null, 'html', 0]);
    expect(await troubleOf('<?xml version="1.0"?><error>no</error>')).toEqual([null, 'not-sitemap', 0]);
    expect(await troubleOf('<!-- only a comment')).toEqual([null, 'not-sitemap', 0]);
    expect(await troubleOf(Buffer.from([0x50, 0x4b, 3, 4, 0, 0, 0, 0]))).toEqual([null, 'binary', 0]);
  });

  it('a document or a gzip stream that is cut keeps what came before, but no half address', async () => {
    const cut = await read(`<urlset>${entry('a')}${entry('b')}<url><loc>https://example.com/only-hal`);
    expect([cut.kind, cut.problem?.trouble, urls(cut)]).toEqual([
      'urlset',
      'cut',
      ['https://example.com/a', 'https://example.com/b'],
    ]);
    const many = Array.from({ length: 3000 }, (_, n) => entry(`${(n * 7919) % 104_729}`)).join('');
    const packed = gzipSync(urlset(many));
    const half = await read(packed.subarray(0, packed.length >> 1), { pieceBytes: 1000 });
    expect([half.kind, half.problem?.trouble]).toEqual(['urlset', 'gzip']);
    expect(half.entries).toBeGreaterThan(1000);
    const broken = Buffer.from(packed);
    broken.fill(0xff, packed.length >> 1);
    expect(await troubleOf(broken)).toEqual(['urlset', 'gzip', expect.any(Number)]);
    expect(await troubleOf(packed.subarray(0, 5))).toEqual([null, 'gzip', 0]);
    // What is no gzip behind it is no part of it.
    const longer = await read(Buffer.concat([packed, Buffer.from('\r\n\r\n<!-- end -->')]));
    expect([longer.problem, longer.entries]).toEqual([null, 3000]);
  });

  it('ten gigabytes of zeros, or of blanks, in ten megabytes of gzip are unpacked no further than needed', async () => {
    const bomb = (byte: number) => {
      const member = gzipSync(Buffer.alloc(10 << 20, byte), { level: 9 });
      return Buffer.concat(Array.from({ length: 1000 }, () => member));
    };
    const zeros = await read(bomb(0), { pieceBytes: 8192 });
    expect([zeros.kind, zeros.problem?.trouble]).toEqual([null, 'binary']);
    expect(zeros.bytes).toBeLessThanOrEqual(65_536);
    const blanks = await read(bomb(32), { maxBytes: 30_000_000, pieceBytes: 8192 });
    expect([blanks.kind, blanks.problem?.trouble, blanks.bytes]).toEqual([null, 'too-large', 30_000_000]);
    expect(blanks.pushed).toBeLessThan(100_000);
  });

  it('an encoding that it names wrongly is told and does not matter', async () => {
    const ascii = await read(`<?xml version="1.0" encoding="UTF-16"?>${urlset(entry('a'))}`);
    expect([ascii.problem?.trouble, urls(ascii)]).toEqual(['charset', ['https://example.com/a']]);
    const latin = await read(
      Buffer.from(
        `<?xml version="1.0" encoding="UTF-8"?>${urlset(entry('caf\u00e9') + entry('b'))}`,
        'latin1',
      ),
    );
    expect([latin.problem?.trouble, urls(latin)]).toEqual([
      'charset',
      ['https://example.com/caf%C3%A9', 'https://example.com/b'],
    ]);
    expect(
      (await read(`<?xml version="1.0" encoding="klingon"?>${urlset(entry('a'))}`)).problem?.trouble,
    ).toBe('charset');
  });

  it('elements inside each other without end, and tags without end', async () => {
    const deep = await read(`<urlset>${entry('a')}${'<url>'.repeat(1_000_000)}`);
    expect([deep.kind, deep.problem?.trouble, deep.entries]).toEqual(['urlset', 'too-deep', 1]);
    expect(deep.pushed).toBeLessThanOrEqual(65_536);
    expect(await troubleOf(`<urlset>${'<a>'.repeat(1_000_000)}`)).toEqual(['urlset', 'too-deep', 0]);
    expect(await troubleOf(`<urlset>${entry('a')}<url x="${'y'.repeat(1_000_000)}`)).toEqual([
      'urlset',
      'broken',
      1,
    ]);
  });

  it('texts, comments and instructions without end hold up nothing', async () => {
    const long = 'x'.repeat(1_000_000);
    const body = urlset(`<!--${long}--><?pi ${long}?><url><loc>https://example.com/${long}</loc></url>
      <url><loc><![CDATA[https://example.com/${long}]]></loc></url>${entry('a')}`);
    const { kind, problem, entries, dropped } = await read(body);
    expect([kind, problem, entries, dropped]).toEqual(['urlset', null, 1, 2]);
  });

  it('fields of endless texts with something between them, and endless words beside an entry, are kept in part', async () => {
    const texts = 'a<b/>'.repeat(200_000);
    const { found } = await read(urlset(`<url><loc>/1</loc><lastmod>${texts}</lastmod></url>${entry('2')}`));
    expect(found[0].lastmod).toHaveLength(65_536);
    expect(urls({ found })).toEqual(['https://example.com/1', 'https://example.com/2']);
    expect(urls(await read(urlset(`<url><loc>https://x.org/${texts}</loc></url>${entry('2')}`)))).toEqual([
      'https://example.com/2',
    ]);
    const word = 'e'.repeat(60_000);
    const languages = `<xhtml:link rel="alternate" hreflang="${word}" href="/l"/>`.repeat(100);
    const videos = `<video:video><video:title>${word}</video:title></video:video>`.repeat(100);
    const beside = await read(
      urlset(`<url><loc>/1</loc>${languages}${videos}</url><url><loc>/2</loc>${videos}</url>`),
    );
    const lettersOf = (one: SitemapEntry) =>
      JSON.stringify([one.alternates, one.videos.filter(({ title }) => title !== null)]).length;
    expect(beside.found.map((one) => lettersOf(one) > 200_000 && lettersOf(one) < 300_000)).toEqual([
      true,
      true,
    ]);
  });

  it('what is no date is not remembered as one: a thousand long ones would be held to the end', () => {
    const draft = new EntryDraft();
    draft.add('lastmod', '2024-01-02');
    draft.toEntry('https://example.com/');
    for (const field of ['lastmod', 'priority'] as const) draft.add(field, 'x'.repeat(60_000));
    draft.toEntry('https://example.com/');
    draft.fill({ lastmod: 'x'.repeat(60_000) } as PlainEntry);
    const held = Object.values(draft).filter((value) => value instanceof Map);
    expect(held.flatMap((map) => [...map.keys()])).toEqual(['2024-01-02']);
  });

  it('no entity that a document declares is put in place', async () => {
    const external = await read(`<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]>
      ${urlset(`<url><loc>&x;</loc></url><url><loc>https://example.com/&x;</loc></url>`)}`);
    expect(urls(external)).toEqual(['https://example.com/&x;']);
    const laughs = Array.from({ length: 30 }, (_, n) => `<!ENTITY l${n + 1} "&l${n};&l${n};">`).join('');
    const bomb = await read(`<!DOCTYPE urlset [<!ENTITY l0 "ha">${laughs}]>
      ${urlset('<url><loc>https://example.com/&l30;</loc></url>')}`);
    expect(urls(bomb)).toEqual(['https://example.com/&l30;']);
  });

  it('tags that do not fit together lose no entry', async () => {
    const body =
      urlset(`<url></url></url>${entry('a')}</loc><url><loc>https://example.com/b</url><url>${entry('c')}
      <url><loc>https://example.com/d</loc><loc>https://example.com/e</loc></url><url>https://example.com/f</url> a < b`);
    expect(urls(await read(body)).map((url) => url.at(-1))).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('a slip that every entry has does not add up to elements inside each other', async () => {
    const slips = [
      (i: number) => `<url><loc>https://example.com/${i}</loc><lastmod>2024-01-02<lastmod></url>`,
      (i: number) => `<url><loc>https://example.com/${i}</loc><br></url>`,
      (i: number) => `<url><loc>https://example.com/${i}</loc>`,
    ];
    for (const slip of slips) {
      const read400 = await read(urlset(Array.from({ length: 400 }, (_, i) => slip(i)).join('')));
      expect([read400.entries, read400.problem]).toEqual([400, null]);
    }
  });

  it('addresses that are none are counted', async () => {
    const locs = [
      '',
      'page.html',
      'ftp://example.com/',
      'javascript:void(0)',
      'https://',
      `https://e.com/${'x'.repeat(9000)}`,
    ];
    const outcome = await read(
      urlset(locs.map((loc) => `<url><loc>${loc}</loc></url>`).join('') + entry('ok')),
    );
    expect([outcome.entries, outcome.dropped]).toEqual([1, locs.length]);
  });
});

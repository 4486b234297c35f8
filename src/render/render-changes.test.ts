import { describe, expect, it } from 'vitest';
import { type ToldChange, toldChange } from '../change/told-change.ts';
import { renderChangesPage } from '../pages/changes/render-changes-page.ts';
import type { ChangeRow } from '../store/read-side.ts';
import { renderChanges } from './render-changes.ts';
import { renderChangesMarkdown } from './render-changes-markdown.ts';
import type { Paint } from './terminal-text.ts';
import type { ChangesList } from './told-words.ts';

const ROW: ChangeRow = {
  run: 3,
  visited_at: '2026-02-03T10:00:00.000Z',
  outcome: 'changed',
  known_by: 'content',
  status_code: 200,
  etag: '"secret"',
  last_modified: null,
  content_hash: 'aa',
  text_hash: 'bb',
  simhash_distance: 4,
  bytes: 1000,
  bytes_saved: 0,
  duration_ms: 12,
  page_id: 7,
  url: 'https://a.example/ink',
  title: 'Ink',
  parts: ['title', 'links', 'text'],
  change: {
    parts: ['title', 'links', 'text'],
    fields: [{ name: 'title', before: 'Pens', after: 'Ink' }],
    linksAdded: ['https://a.example/new'],
    linksRemoved: ['https://a.example/old'],
    text: [
      ['=', 'the price is'],
      ['-', 'nine'],
      ['+', 'ten or more'],
      ['=', 'coins'],
    ],
    wordsAdded: 3,
    wordsRemoved: 1,
  },
};
const other = (values: Partial<ChangeRow>): ChangeRow => ({ ...ROW, parts: [], change: null, ...values });

async function* each(rows: readonly ChangeRow[]): AsyncGenerator<ToldChange> {
  for (const row of rows) yield toldChange(row, 'ink shop');
}

const listOf = (rows: readonly ChangeRow[], showsRun = false): ChangesList => ({
  heading: {
    title: 'Changes of ink shop, run 3',
    note: 'run 3 completed',
    counts: [['changed', rows.length]],
  },
  sections: [{ title: 'Changed', rows: each(rows) }],
  showsRun,
  emptyText: 'Nothing changed.',
});

async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

const plain: Paint = (_, text) => text;
const text = (rows: readonly ChangeRow[], width: number | null = null, paint = plain) =>
  joined(renderChanges(listOf(rows), paint, width));
const markdown = (rows: readonly ChangeRow[]) => joined(renderChangesMarkdown(listOf(rows)));
const page = (rows: readonly ChangeRow[]) => joined(renderChangesPage(listOf(rows)));

/** What a page from hell would like us to print. */
const HOSTILE = other({
  url: 'https://a.example/?q=%3C"onmouseover=alert(1)',
  parts: ['title', 'text'],
  change: {
    ...ROW.change!,
    fields: [
      { name: 'title', before: '</style><script>alert(1)</script>', after: '```\n# @all `x` \u001b[31m' },
    ],
    linksAdded: ['javascript:alert(1)'],
    text: [['+', '<img src=x onerror=alert(1)> & ``` \u001b]0;owned\u0007']],
  },
});

describe('changes as text', () => {
  it('are a line a page with what changed below it', async () => {
    expect(await text([ROW])).toBe(`Changes of ink shop, run 3
run 3 completed
1 changed

changed   https://a.example/ink  title, links, text
  title            Pens → Ink
  links            + https://a.example/new
                   - https://a.example/old
  text             +3 -1 words
    the price is [-nine-] {+ten or more+} coins
`);
  });

  it('say of every outcome how it was known', async () => {
    const lines = await text([
      other({ outcome: 'new', title: 'Fresh' }),
      other({ outcome: 'gone', known_by: 'status', status_code: 410 }),
      other({ outcome: 'gone', known_by: 'orphan' }),
      other({ outcome: 'unchanged', known_by: '304', bytes_saved: 12_000 }),
      other({ outcome: 'unchanged', known_by: 'text' }),
      other({ outcome: 'failed', known_by: 'network', status_code: null }),
    ]);
    expect(lines.split('\n').slice(4, -1)).toEqual([
      'new       https://a.example/ink  Fresh',
      'gone      https://a.example/ink  HTTP 410',
      'gone      https://a.example/ink  no link and no sitemap leads there any more',
      'unchanged https://a.example/ink  the server says not modified, 12.0 KB saved',
      'unchanged https://a.example/ink  only the template changed',
      'failed    https://a.example/ink  no answer',
    ]);
  });

  it('count no words of a text that is not kept', () => {
    const change = { ...ROW.change!, text: null, wordsAdded: 0, wordsRemoved: 0 };
    const counted = (row: ChangeRow) => {
      const { words_added, words_removed } = toldChange(row, 'ink shop');
      return [words_added, words_removed];
    };
    expect(counted(other({ parts: ['text'], change }))).toEqual([null, null]);
    expect(counted(other({ parts: ['title'], change }))).toEqual([0, 0]);
  });

  it('say so when there is nothing', async () => {
    expect(await text([])).toContain('Nothing changed.');
  });

  it('keep within the width of a terminal where words allow it', async () => {
    const words = Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ');
    const long = other({
      change: { ...ROW.change!, fields: [], linksAdded: [], linksRemoved: [], text: [['+', words]] },
    });
    const lines = (await text([long], 60)).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(lines.join(' ').replace(/\s+/g, ' ')).toContain(words);
  });

  it('mark removed and added words with colours too, where colours are on', async () => {
    const lines = await text([ROW], null, (colour, words) => `<${colour}>${words}</>`);
    expect(lines).toContain('<red>[-nine-]</>');
    expect(lines).toContain('<green>{+ten</> <green>or</> <green>more+}</>');
  });

  it('cannot steer a terminal', async () => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(await text([HOSTILE])).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it('never show a validator', async () => {
    for (const shown of [await text([ROW]), await markdown([ROW]), await page([ROW])])
      expect(shown).not.toContain('secret');
    expect(JSON.stringify(toldChange(ROW, 'x'))).not.toContain('secret');
  });
});

describe('changes as Markdown', () => {
  it('are a list with a diff block a page', async () => {
    expect(await markdown([ROW, other({ outcome: 'new' })])).toBe(`# Changes of ink shop, run 3

run 3 completed

2 changed

## Changed

- **changed** <https://a.example/ink>: \`title, links, text\`

  \`\`\`diff
  - title: Pens
  + title: Ink
  - link: https://a.example/old
  + link: https://a.example/new
    the price is
  - nine
  + ten or more
    coins
  \`\`\`

- **new** <https://a.example/ink>: \`Ink\`
`);
  });

  it('keep what comes from the web inside of code', async () => {
    const shown = await markdown([HOSTILE]);
    // The fence is longer than any run of ticks within, and stands nowhere else.
    expect(shown.match(/^ {2}`{4}(diff)?$/gm)).toHaveLength(2);
    const outside = shown.replace(/^ {2}````diff$[\s\S]*?^ {2}````$/gm, '');
    expect(outside).not.toMatch(/alert\(1\)<|@all|<img/);
  });

  it('escape a title that ticks could end', async () => {
    const shown = await markdown([other({ outcome: 'new', title: '`` @all ` **x**' })]);
    expect(shown).toContain('```` `` @all ` **x** ````'.replaceAll('````', '```'));
  });
});

describe('changes as a page', () => {
  it('have everything inside, no script but their own, and follow light and dark', async () => {
    const html = await page([ROW]);
    expect(html).toContain("default-src 'none'");
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).not.toMatch(/<link|src=|@import|url\(/);
    expect(html).toMatch(/prefers-color-scheme: ?dark/);
    expect(html).toContain(
      '<p class="diff" dir="auto">the price is <del>nine</del> <ins>ten or more</ins> coins</p>',
    );
    expect(html).toContain(
      '<tr><th scope="row">title</th><td dir="auto"><del>Pens</del></td><td dir="auto"><ins>Ink</ins></td></tr>',
    );
    expect(html).toContain(
      '<a href="https://a.example/new" rel="noreferrer noopener">https://a.example/new</a>',
    );
  });

  it('escape what comes from the web, and link to web addresses only', async () => {
    const html = await page([HOSTILE]);
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).not.toMatch(/<img|href="javascript|"onmouseover/);
    expect(html).toContain('&lt;/style&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html.match(/<\/style>/g)).toHaveLength(1);
  });

  it('say so when there is nothing', async () => {
    expect(await page([])).toContain('<p class="empty">Nothing changed.</p>');
  });
});

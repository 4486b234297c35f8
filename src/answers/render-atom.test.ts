import { describe, expect, it } from 'vitest';
import type { Change } from '../contract/changes.ts';
import { xhtmlToHtml } from '../parse/xhtml-to-html.ts';
import { renderAtom } from './render-atom.ts';

const CHANGE: Change = {
  ...{ outcome: 'changed', page_id: 'p1', url: 'https://a.test/?a=1&b="2"', known_by: 'content', run: 7 },
  ...{ parts: ['title', 'text'], links_added: ['https://a.test/x'], links_removed: [], text: null },
  fields: [{ name: 'title', before: '<b>', after: ']]>\u0000\ud800' }],
  ...{ words_added: 2, words_removed: null, text_steps: [], status_code: 200, title: '<script>&amp;\u0007' },
  ...{ visited_at: '2026-02-03T10:00:00.000Z', last_modified: null, content_hash: null, text_hash: null },
  ...{ simhash_distance: null, bytes: 1, bytes_saved: 0, duration_ms: null },
};
const FEED = {
  ...{ projectUid: 'u1', projectName: 'A & <B>', updated: '2026-02-03T10:00:00.000Z' },
  ...{ selfUrl: 'http://127.0.0.1/api?x=1&y=2', nextUrl: null },
};

async function textOf(
  feed: typeof FEED | (Omit<typeof FEED, 'nextUrl'> & { nextUrl: string }),
  changes: Change[],
) {
  let text = '';
  for await (const piece of renderAtom(feed, changes)) text += piece;
  return text;
}

describe('an Atom feed of changes', () => {
  it('is well-formed whatever pages call themselves', async () => {
    const text = await textOf(FEED, [CHANGE]);
    expect(xhtmlToHtml(text)).not.toBeNull();
    expect(text).toContain('<title>changed: &lt;script&gt;&amp;amp;\u{fffd}</title>');
    expect(text).toContain('href="https://a.test/?a=1&amp;b=&quot;2&quot;"');
    expect(text).toContain('<id>urn:sumi:change:u1:7:p1:1770112800000</id>');
    expect(text).toContain('title: &lt;b&gt; → ]]&gt;\u{fffd}\u{fffd}');
    expect(text).not.toContain('rel="next"');
  });

  it('links nothing that is not http, and is valid without entries', async () => {
    const text = await textOf({ ...FEED, nextUrl: 'http://127.0.0.1/next' }, [
      { ...CHANGE, url: 'javascript:alert(1)' },
    ]);
    expect(text).not.toContain('href="javascript');
    expect(text).toContain('<link rel="next" href="http://127.0.0.1/next"/>');
    expect(xhtmlToHtml(await textOf(FEED, []))).not.toBeNull();
  });
});

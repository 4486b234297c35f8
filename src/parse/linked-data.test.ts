import { describe, expect, it } from 'vitest';
import { MOST_LINKED_DATA_BYTES } from './linked-data.ts';
import { createPageParser } from './parse-page.ts';

const parse = createPageParser();

function dataOf(html: string, contentType = 'text/html'): string | null {
  const bytes = Buffer.from(html);
  return parse({ bytes, length: bytes.length, contentType, xRobotsTag: null, agentToken: '' }).structuredData;
}

describe('structured data', () => {
  it('is every JSON-LD block in order, trimmed, one a line', () => {
    const html = `<head><script type="application/ld+json">
      {"@type": "Product",
       "name": "Ink"}
      </script></head><body><p>x<script type='application/ld+json'>[1]</script>`;
    expect(dataOf(html)).toBe('{"@type": "Product", "name": "Ink"}\n[1]');
  });

  it('holds nothing that a database would keep as something else', () => {
    expect(dataOf('<script type="application/ld+json">{"a":"b\0c"}</script>')).toBe('{"a":"b\ufffdc"}');
  });

  it.each([
    '<script type=application/ld+json>',
    '<SCRIPT TYPE="Application/LD+JSON">',
    '<script id="a > b" async type = " application/ld+json;charset=utf-8 ">',
    '<script data-type="text/plain" nonce=abc123 type="application/ld+json" class="x" type="text/javascript">',
    '<script\n\ttype\n=\n"application/ld+json"/>',
  ])('is found in %s', (tag) => {
    expect(dataOf(`${tag}{"a":1}</script>`)).toBe('{"a":1}');
  });

  it.each([
    '<script>{"a":1}</script>',
    '<script type="application/json" class="application/ld+json">{"a":1}</script>',
    '<script type="text/javascript" type="application/ld+json">{"a":1}</script>',
    '<script src="x.js" data-type="application/ld+json">{"a":1}</script>',
    '<script type="application/ld+json-not">{"a":1}</script>',
    '<script type="application/ld+json"></script>',
    '<script type="application/ld+json"> \n </script>',
    '<template><script type="application/ld+json">{"a":1}</script></template>',
    '<!-- <script type="application/ld+json">{"a":1}</script> -->',
    '<textarea><script type="application/ld+json">{"a":1}</script></textarea>',
    '<style type="application/ld+json" media="print">{"a":1}</style>',
  ])('is not in %s', (html) => {
    expect(dataOf(html)).toBeNull();
  });

  it('keeps what stands before the end of a page that is cut off', () => {
    expect(dataOf('<script type="application/ld+json">{"a":1')).toBe('{"a":1');
  });

  it('is of the page that was parsed last only', () => {
    expect(dataOf('<script type="application/ld+json">1</script>')).toBe('1');
    expect(dataOf('<p>x')).toBeNull();
    expect(dataOf('<script type="application/ld+json">1</script>', 'text/plain')).toBeNull();
  });

  it('is read as UTF-8, entities as written', () => {
    expect(dataOf('<script type="application/ld+json">"墨 &amp; é"</script>')).toBe('"墨 &amp; é"');
  });

  it('has an end, and never half a character before it', () => {
    const block = `"${'墨'.repeat(MOST_LINKED_DATA_BYTES)}"`;
    const data = dataOf(`<script type="application/ld+json">${block}</script>`.repeat(2))!;
    const size = Buffer.byteLength(data);
    expect(size).toBeLessThanOrEqual(MOST_LINKED_DATA_BYTES);
    expect(size).toBeGreaterThan(MOST_LINKED_DATA_BYTES - 4);
    expect(data).toMatch(/^"墨+$/);
  });
});

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { randomTerrain } from '../../../test/map-page/random-terrain.ts';
import type { PageData } from './page-data.ts';
import { renderMapPage } from './render-map-page.ts';

const map = randomTerrain({
  seed: 3,
  quality: 2,
  stub: 2,
  blacklist: 2,
  discovered: 20,
  links: 60,
  maxDepth: 2,
});

function insideOf(html: string, opening: string, closing: string): string {
  const from = html.indexOf(opening) + opening.length;
  expect(from, opening).toBeGreaterThan(opening.length);
  return html.slice(from, html.indexOf(closing, from));
}

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('the map page', () => {
  it('allows its own style and script and nothing else', async () => {
    const html = await renderMapPage(map);
    const policy = insideOf(html, 'http-equiv="Content-Security-Policy" content="', '"');
    const script = insideOf(html, '<script>', '</script>');
    const style = insideOf(html, '<style>', '</style>');
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${hashOf(script)}`,
      `style-src ${hashOf(style)}`,
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(html).not.toMatch(/\{\{\w+\}\}/);
    // Nothing is fetched: no source, no style sheet, no image, no font.
    expect(html).not.toMatch(/<link|<img|<iframe|\ssrc=|@import|url\(/);
  });

  it('keeps hostile words inside their places', async () => {
    const evil = '</script><!--<script>alert(1)</script> & \u2028 {{policy}} $& "';
    const domains = map.domains.map((one, at) => (at === 5 ? { ...one, name: evil } : one));
    const html = await renderMapPage({ ...map, title: evil, domains });
    const parts = html.match(/<script\b/g)!.length;
    expect([parts, html.match(/<\/script>/g)!.length]).toEqual([2, 2]);
    expect(insideOf(html, '<title>', '</title>')).toBe(
      '&lt;/script&gt;&lt;!--&lt;script&gt;alert(1)&lt;/script&gt; &amp; \u2028 {{policy}} $&amp; &quot;',
    );
    const data = JSON.parse(
      insideOf(html, '<script id="data" type="application/json">', '</script>'),
    ) as PageData;
    expect(data.names[5]).toBe(evil);
    expect(data.title).toBe(evil);
  });
});

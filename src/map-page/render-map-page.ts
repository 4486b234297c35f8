/**
 * Writes the terrain as one page that opens from disk: style, script and data are inside, and its policy forbids every
 * request and every script but its own. Names, titles and URLs come from the web: they reach the page as JSON that
 * cannot end its element, and the page's script makes text of them, never markup.
 */
import { createHash } from 'node:crypto';
import { type MapLimits, toPageData } from './page-data.ts';
import { pageParts } from './page-parts.ts';
import type { TerrainMap } from './terrain-map.ts';

export async function renderMapPage(map: TerrainMap, limits?: MapLimits): Promise<string> {
  const { html, style, script } = await pageParts();
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const values: Record<string, string> = {
    policy,
    title: escapeText(map.title),
    style: `<style>${style}</style>`,
    script: `<script>${script}</script>`,
    data: `<script id="data" type="application/json">${toSafeJson(toPageData(map, limits))}</script>`,
  };
  // Whole elements stand as comments in the markup, so that it is markup for every tool that reads it.
  return html.replace(
    /<!-- \{\{(\w+)\}\} -->|\{\{(\w+)\}\}/g,
    (_, part: string, word: string) => values[part ?? word],
  );
}

const hashOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

function escapeText(text: string): string {
  const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => escapes[character]);
}

/** JSON that may stand in a script element: nothing in it looks like the start of a tag or comment, or ends a line. */
function toSafeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * One page that opens from disk: style, script and data are inside, and its policy forbids every request and every
 * script except its own. Data from the web is JSON that cannot end its element, or markup with escaped text.
 */
import { createHash } from 'node:crypto';

export interface PageParts {
  html: string;
  style: string;
  script: string;
}

export interface PageWords {
  title: string;
  data: unknown;
  /** Markup made elsewhere, by its name in the page. */
  markup?: Readonly<Record<string, string>>;
}

export function fillPage({ html, style, script }: PageParts, { title, data, markup }: PageWords): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const values: Record<string, string> = {
    ...markup,
    policy,
    title: escapeText(title),
    style: `<style>${style}</style>`,
    script: `<script>${script}</script>`,
    data: `<script id="data" type="application/json">${toSafeJson(data)}</script>`,
  };
  // Whole elements are comments in the markup, so that every tool can read it as markup.
  return html.replace(
    /<!-- \{\{(\w+)\}\} -->|\{\{(\w+)\}\}/g,
    (_, part: string, word: string) => values[part ?? word],
  );
}

const hashOf = (text: string) => `sha256-${createHash('sha256').update(text).digest('base64')}`;

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function escapeText(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character]);
}

/** JSON for a script element: nothing in it looks like the start of a tag or comment, or ends a line. */
function toSafeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Pages for the judges of the extraction: each element has an id, and end tags that may be left out often are. */
import type { SeededRandom } from '../seeded-random.ts';

export const TAGS = [
  'div',
  'section',
  'p',
  'span',
  'a',
  'em',
  'ul',
  'li',
  'table',
  'tr',
  'td',
  'th',
  'h2',
  'dl',
  'dd',
  'x-y',
];
export const CLASSES = ['a', 'b', 'c', 'price'];
export const VALUES = ['one', 'two', 'one two', 'EN', 'en-GB', '', 'a&b"c'];

const WORDS = [
  'ink',
  'Paper &amp; pen',
  '&lt;b&gt;',
  ' ',
  '\n',
  'x',
  '1.299,00 &euro;',
  '<!-- <p> -->',
  '😀',
  'a &nbsp; b',
];

export interface PageChoice {
  /** No end tag is left out: the page is XML but for its empty elements. */
  isTidy?: boolean;
}

export function randomPage(random: SeededRandom, { isTidy = false }: PageChoice = {}): string {
  let count = 0;
  const often = () => random.below(3) > 0;
  const quoted = (text: string) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
  const close = (tag: string, mayBeLeftOut: boolean) =>
    mayBeLeftOut && !isTidy && often() ? '' : `</${tag}>`;

  function open(tag: string): string {
    let text = `<${!isTidy && random.below(9) === 0 ? tag.toUpperCase() : tag} id="n${count++}"`;
    if (often()) text += ` class="${random.pick(CLASSES)}${often() ? '' : `  ${random.pick(CLASSES)}`}"`;
    if (!often()) text += ` data-v="${quoted(random.pick(VALUES))}"`;
    if (!often()) text += ` lang="${quoted(random.pick(VALUES))}"`;
    return `${text}>`;
  }

  const words = () => random.pick(WORDS);
  const several = (make: () => string) => Array.from({ length: random.below(4) }, make).join('');
  // The tag is opened before its content is made: ids follow the order of the page.
  function element(tag: string, content: () => string, mayBeLeftOut = false): string {
    const start = open(tag);
    return start + content() + close(tag, mayBeLeftOut);
  }

  function inline(depth: number): string {
    if (depth > 4 || random.below(3) === 0) return words();
    const tag = random.pick(['span', 'em', 'x-y']);
    return element(tag, () => several(() => inline(depth + 1)));
  }

  function block(depth: number): string {
    if (depth > 4) return words();
    const inner = () => several(() => block(depth + 1));
    switch (random.below(9)) {
      case 0:
        // Only a block ends a paragraph.
        return element('p', () => several(() => inline(depth)), true) + element('div', inner);
      case 1:
        return element('ul', () => several(() => element('li', inner, true)));
      case 2:
        return element('table', () => {
          return isTidy ? element('tbody', () => several(row)) : several(row);
        });
      case 3:
        // libxml2 reads it in a way of its own.
        if (isTidy) return words();
        return element('dl', () => several(() => element(random.pick(['dt', 'dd']), inner, true)));
      case 4:
        return element('h2', () => several(() => inline(depth)));
      case 5:
        return element('a', () => several(() => inline(depth)));
      case 6:
        return words();
      default:
        return element(random.pick(['div', 'section']), inner);
    }
    function row(): string {
      return element('tr', () => several(() => element(random.pick(['td', 'th']), inner, true)), true);
    }
  }

  const body = several(() => block(0)) + several(() => block(0)) + block(0);
  if (isTidy || often())
    return `<!DOCTYPE html><html><head><title>T</title></head><body>${body}</body></html>`;
  return `<!doctype html><title>T</title>${body}`;
}

const DAMAGE = [
  '<',
  '>',
  '&',
  '"',
  '</',
  '<p>',
  '</p>',
  '</div>',
  '<table>',
  '</td>',
  '<li>',
  '<a>',
  '</b>',
  '\0',
  '<script>',
  '<svg>',
];

export function breakPage(html: string, random: SeededRandom): string {
  let text = html;
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = random.below(text.length);
    if (random.below(2) === 0) text = text.slice(0, at) + random.pick(DAMAGE) + text.slice(at);
    else text = text.slice(0, at) + text.slice(at + 1 + random.below(20));
  }
  return text;
}

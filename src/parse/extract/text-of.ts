/**
 * The text of an element as a reader sees it: white space folded, blocks and `<br>` on lines of their own, the cells of a
 * row side by side, the white space of a `pre` as written. Leaves out what is not shown: scripts, styles, templates,
 * elements with `hidden`. The element itself is always read, whatever it is.
 */
import { LINES } from '../page-parts.ts';
import { attributeOf, type PageElement, RAW_ELEMENTS, wordSet } from './page-tree.ts';

export interface TextChoice {
  /** Images count with their alt text, as in the text of a link. */
  hasAlt?: boolean;
  /** Lines are joined with spaces. */
  isOneLine?: boolean;
  /** Tables inside of it are left out. */
  isWithoutTables?: boolean;
}

const LINE_ELEMENTS = wordSet(LINES);
const CELLS = wordSet('td th');
const UNSEEN = wordSet(
  'audio canvas datalist head iframe noembed noframes noscript script style template title video',
);
const UNSEEN_IN_SVG = wordSet('desc metadata script style title');
const SPACES = /[ \t\n\f\r\u00a0\u2000-\u200a\u2028\u2029\u202f\u3000]+/g;

export function textOf(element: PageElement, choice: TextChoice = {}): string {
  if (RAW_ELEMENTS.has(element.name) && !element.isForeign) return rawText(element).trim();
  const writer = createTextWriter();
  const visit = (parent: PageElement, isKept: boolean): void => {
    for (const node of parent.children) {
      if (node.kind === 'text') {
        if (isKept) writer.verbatim(node.text);
        else writer.folded(node.text);
        continue;
      }
      const { name } = node;
      if (isUnseen(node) || (choice.isWithoutTables === true && name === 'table')) {
        if (LINE_ELEMENTS.has(name)) writer.gap('\n');
        continue;
      }
      if (name === 'img') {
        if (choice.hasAlt === true) writer.apart(attributeOf(node, 'alt') ?? '');
        continue;
      }
      const edge = LINE_ELEMENTS.has(name) ? '\n' : CELLS.has(name) ? ' ' : '';
      if (edge !== '') writer.gap(edge);
      visit(node, isKept || name === 'pre' || name === 'textarea');
      if (edge !== '') writer.gap(edge);
    }
  };
  visit(element, element.name === 'pre');
  const text = writer.text();
  return choice.isOneLine === true ? text.replace(SPACES, ' ') : text;
}

function isUnseen(element: PageElement): boolean {
  const { name } = element;
  if (element.isForeign) return UNSEEN_IN_SVG.has(name);
  // A template of this kind is shown in the place of its parent's content.
  if (name === 'template') return attributeOf(element, 'shadowrootmode') === null;
  if (UNSEEN.has(name)) return true;
  if (name === 'dialog' && attributeOf(element, 'open') === null) return true;
  const hidden = attributeOf(element, 'hidden');
  return hidden !== null && hidden.toLowerCase() !== 'until-found';
}

/** All text inside, as written. */
export function rawText(element: PageElement): string {
  let text = '';
  for (const child of element.children) text += child.kind === 'text' ? child.text : rawText(child);
  return text;
}

/** White space folded, for values of attributes. */
export function foldSpaces(text: string): string {
  return text.replace(SPACES, ' ').replace(/^ | $/g, '');
}

function createTextWriter() {
  let out = '';
  /** What stands between the text so far and the next. */
  let between = '';

  function gap(wanted: string): void {
    if (between !== '\n') between = wanted;
  }

  function add(text: string): void {
    if (out !== '') out += between;
    out += text;
    between = '';
  }

  function folded(text: string): void {
    const line = text.replace(SPACES, ' ');
    const start = line.startsWith(' ') ? 1 : 0;
    if (start === 1) gap(' ');
    if (line.length === start) return;
    const end = line.endsWith(' ') ? line.length - 1 : line.length;
    add(line.slice(start, end));
    if (end < line.length) gap(' ');
  }

  return {
    gap,
    folded,
    /** Separated from what stands around it. */
    apart(text: string): void {
      gap(' ');
      folded(text);
      gap(' ');
    },
    verbatim(text: string): void {
      let end = text.length;
      while (text[end - 1] === '\n') end--;
      if (end > 0) add(text.slice(0, end));
      if (end < text.length) gap('\n');
    },
    text: () => out,
  };
}

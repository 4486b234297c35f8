/** Writes an element as HTML, itself included, by the standard's rules: another reader builds the same tree of it. */
import { type PageElement, RAW_ELEMENTS, VOID_ELEMENTS } from './page-tree.ts';

const TEXT_MARKS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\u00a0': '&nbsp;',
};
const IN_TEXT = /[&<>\u00a0]/g;
const IN_ATTRIBUTE = /[&<>"\u00a0]/g;

/** Elements whose text is decoded by readers, though no tag begins in it. */
const DECODED = new Set(['textarea', 'title']);

const mark = (character: string) => TEXT_MARKS[character];

/** `most`: characters; what is longer gives null. */
export function htmlOf(element: PageElement, most: number): string | null {
  const pieces: string[] = [];
  let length = 0;
  const add = (piece: string): boolean => {
    pieces.push(piece);
    length += piece.length;
    return length <= most;
  };
  const visit = (node: PageElement): boolean => {
    const { name, attributes, children } = node;
    let tag = `<${name}`;
    for (let i = 0; i < attributes.length; i += 2)
      tag += ` ${attributes[i]}="${attributes[i + 1].replace(IN_ATTRIBUTE, mark)}"`;
    if (!add(`${tag}>`)) return false;
    if (!node.isForeign && VOID_ELEMENTS.has(name)) return true;
    const isRaw = !node.isForeign && RAW_ELEMENTS.has(name) && !DECODED.has(name);
    const first = children[0];
    // A reader drops a newline here.
    if ((name === 'pre' || name === 'textarea') && first?.kind === 'text' && first.text.startsWith('\n'))
      add('\n');
    for (const child of children) {
      if (child.kind === 'element') {
        if (!visit(child)) return false;
      } else if (!add(isRaw ? child.text : child.text.replace(IN_TEXT, mark))) return false;
    }
    return add(`</${name}>`);
  };
  return visit(element) ? pieces.join('') : null;
}

/**
 * Builds the tree of a page from htmlparser2's tokens by the rules of the HTML standard that decide what a selector
 * finds: html, head, body, tbody and tr that were left out, end tags that were left out, scopes, SVG. Promises a tree for
 * any text, in time that grows with its length. Does not repeat formatting elements that were closed in the wrong order,
 * and does not move what stands between the cells of a table. Parts of a table without a table are kept.
 */
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { OpenStack } from './open-stack.ts';
import {
  MOST_ATTRIBUTES,
  MOST_NODES,
  type PageDocument,
  type PageElement,
  RAW_ELEMENTS,
  VOID_ELEMENTS,
} from './page-tree.ts';
import {
  BLOCKS,
  BREAKOUTS,
  BUTTON_SCOPE,
  CELLS,
  COLUMN_CONTEXT,
  FORMATTING,
  HEAD_ELEMENTS,
  HEADINGS,
  holdsForeign,
  LIST_SCOPE,
  ROW_CONTEXT,
  ROWS,
  SCOPE,
  SECTION_CONTEXT,
  SECTIONS,
  SPECIAL,
  TABLE_PARTS,
  TABLE_SCOPE,
  TEMPLATE_SCOPE,
} from './tree-rules.ts';

const NONE: readonly string[] = [];
const NOT_BLANK = /[^ \t\n\f]/;

export function buildTree(html: string): PageDocument {
  const builder = new TreeBuilder(html.includes('\r') ? html.replace(/\r\n?/g, '\n') : html);
  return builder.build();
}

function lastElementOf({ children }: PageElement): PageElement | null {
  for (let i = children.length - 1; i >= 0; i--) {
    const child = children[i];
    if (child.kind === 'element') return child;
  }
  return null;
}

class TreeBuilder implements TokenizerCallbacks {
  readonly #html: string;
  readonly #tokenizer: Tokenizer;
  readonly #elements: PageElement[] = [];
  readonly #open = new OpenStack();
  /** Each name once, however often and in whatever case it is written. */
  readonly #names = new Map<string, string>();
  readonly #root: PageElement;
  #head: PageElement | null = null;
  #body: PageElement | null = null;
  #nodes = 1;
  /** The start tag that is being read. */
  #tag = '';
  #attributes: string[] = [];
  #attributeName = '';
  #attributeValue = '';
  #text = '';
  /** A newline right after the start tag of a `pre` is no text. */
  #dropsNewline = false;

  constructor(html: string) {
    this.#html = html;
    this.#tokenizer = new Tokenizer({}, this);
    this.#root = this.#create('html', null, NONE, false);
    this.#open.push(this.#root);
  }

  build(): PageDocument {
    this.#tokenizer.write(this.#html);
    const isCut = !this.#tokenizer.running;
    this.#tokenizer.end();
    this.#flushText();
    const body = this.#body ?? this.#startBody(NONE);
    return { root: this.#root, head: this.#head, body, elements: this.#elements, isCut };
  }

  // Tokens.

  ontext(start: number, end: number): void {
    this.#text += this.#html.slice(start, end);
  }

  ontextentity(codePoint: number): void {
    this.#text += String.fromCodePoint(codePoint);
  }

  onopentagname(start: number, end: number): void {
    this.#flushText();
    this.#tag = this.#name(start, end);
    this.#attributes = [];
  }

  onattribname(start: number, end: number): void {
    this.#attributeName = this.#name(start, end);
    this.#attributeValue = '';
  }

  onattribdata(start: number, end: number): void {
    this.#attributeValue += this.#html.slice(start, end);
  }

  onattribentity(codePoint: number): void {
    this.#attributeValue += String.fromCodePoint(codePoint);
  }

  onattribend(): void {
    const attributes = this.#attributes;
    if (attributes.length >= 2 * MOST_ATTRIBUTES) return;
    for (let i = 0; i < attributes.length; i += 2) if (attributes[i] === this.#attributeName) return;
    const value = this.#attributeValue;
    attributes.push(this.#attributeName, value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value);
  }

  onopentagend(): void {
    this.#start(this.#tag, false);
  }

  onselfclosingtag(): void {
    this.#start(this.#tag, true);
  }

  onclosetag(start: number, end: number): void {
    this.#flushText();
    this.#end(this.#name(start, end));
  }

  oncdata(start: number, end: number, endOffset: number): void {
    if (this.isInForeignContext()) this.#text += this.#html.slice(start, end - endOffset);
  }

  isInForeignContext(): boolean {
    return holdsForeign(this.#open.top);
  }

  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  // The tree.

  #name(start: number, end: number): string {
    const written = this.#html.slice(start, end);
    let name = this.#names.get(written);
    if (name === undefined) {
      name = written.toLowerCase().replaceAll('\0', '\ufffd');
      this.#names.set(written, name);
    }
    return name;
  }

  #create(name: string, parent: PageElement | null, attributes: readonly string[], isForeign: boolean) {
    const place = parent === null ? 1 : ++parent.elementCount;
    const previous = parent === null ? null : lastElementOf(parent);
    const element: PageElement = {
      kind: 'element',
      name,
      attributes: attributes.length === 0 ? NONE : attributes,
      children: [],
      parent,
      previous,
      place,
      elementCount: 0,
      isForeign,
    };
    parent?.children.push(element);
    if (!this.#open.has('template')) this.#elements.push(element);
    this.#countNode();
    return element;
  }

  #countNode(): void {
    if (++this.#nodes > MOST_NODES) this.#tokenizer.pause();
  }

  #insert(name: string, isForeign = false): PageElement {
    return this.#create(name, this.#open.top, this.#attributes, isForeign);
  }

  /** An element that was left out. */
  #supply(name: string): void {
    this.#open.push(this.#create(name, this.#open.top, NONE, false));
  }

  /** Adds attributes that an element does not have yet, for a second `<html>` or `<body>`. */
  #merge(element: PageElement): PageElement {
    const known = element.attributes;
    const added: string[] = [...known];
    for (let i = 0; i < this.#attributes.length; i += 2)
      if (!known.some((name, at) => at % 2 === 0 && name === this.#attributes[i]))
        added.push(this.#attributes[i], this.#attributes[i + 1]);
    if (added.length > known.length) (element as { attributes: readonly string[] }).attributes = added;
    return element;
  }

  #flushText(): void {
    let text = this.#text;
    if (text === '') return;
    this.#text = '';
    if (this.#dropsNewline && text.startsWith('\n')) text = text.slice(1);
    this.#dropsNewline = false;
    const { name } = this.#open.top;
    if (text.includes('\0')) text = text.replaceAll('\0', RAW_ELEMENTS.has(name) ? '\ufffd' : '');
    if (text === '') return;
    if (this.#isBeforeBody && !RAW_ELEMENTS.has(name)) {
      const start = text.search(NOT_BLANK);
      const blank = start < 0 ? text : text.slice(0, start);
      if (name === 'head' && blank !== '') this.#addText(blank);
      if (start < 0) return;
      text = text.slice(start);
      this.#startBody(NONE);
    }
    this.#addText(text);
  }

  #addText(text: string): void {
    const { children } = this.#open.top;
    const last = children[children.length - 1];
    if (last?.kind === 'text') {
      (last as { text: string }).text += text;
      return;
    }
    children.push({ kind: 'text', text });
    this.#countNode();
  }

  get #isBeforeBody(): boolean {
    return this.#body === null && !this.#open.has('template');
  }

  #startBody(attributes: readonly string[], name = 'body'): PageElement {
    this.#open.popFrom(1);
    const body = this.#create(name, this.#root, attributes, false);
    this.#body = body;
    this.#open.push(body);
    return body;
  }

  // Start tags.

  #start(tag: string, isSelfClosing: boolean): void {
    this.#dropsNewline = false;
    if (this.isInForeignContext()) {
      if (!this.#breaksOut(tag)) {
        const element = this.#insert(tag, true);
        if (!isSelfClosing) this.#open.push(element);
        return;
      }
      let index = this.#open.length - 1;
      while (holdsForeign(this.#open.at(index))) index--;
      this.#open.popFrom(index + 1);
    }
    const name = tag === 'image' ? 'img' : tag;
    if (this.#startsPage(name)) return;
    if (this.#isBeforeBody) {
      if (HEAD_ELEMENTS.has(name)) {
        if (this.#open.top === this.#root) this.#openHead(NONE);
        this.#openElement(name, false);
        return;
      }
      this.#startBody(NONE);
    }
    if (TABLE_PARTS.has(name)) this.#startTablePart(name);
    else if (name === 'form' && this.#open.has('form') && !this.#open.has('template')) return;
    else {
      this.#closeBefore(name);
      this.#openElement(name, isSelfClosing);
    }
  }

  #openElement(name: string, isSelfClosing: boolean): void {
    const isForeign = name === 'svg' || name === 'math';
    const element = this.#insert(name, isForeign);
    if (VOID_ELEMENTS.has(name) || (isForeign && isSelfClosing)) return;
    this.#open.push(element);
    this.#dropsNewline = name === 'pre' || name === 'textarea' || name === 'listing';
  }

  #openHead(attributes: readonly string[]): void {
    this.#head ??= this.#create('head', this.#root, attributes, false);
    this.#open.push(this.#head);
  }

  /** `html`, `head`, `body` and `frameset`: there is one of each. */
  #startsPage(name: string): boolean {
    if (name === 'html') this.#merge(this.#root);
    else if (name === 'head') {
      if (this.#isBeforeBody && this.#head === null) this.#openHead(this.#attributes);
    } else if (name === 'body') {
      if (this.#isBeforeBody) this.#startBody(this.#attributes);
      else if (this.#body?.name === 'body' && !this.#open.has('template')) this.#merge(this.#body);
    } else if (name === 'frameset' && this.#isBeforeBody) this.#startBody(this.#attributes, name);
    else return false;
    return true;
  }

  #breaksOut(tag: string): boolean {
    if (tag !== 'font') return BREAKOUTS.has(tag);
    return this.#attributes.some((name, i) => i % 2 === 0 && /^(?:color|face|size)$/.test(name));
  }

  /** End tags that may be left out before this start tag. */
  #closeBefore(name: string): void {
    const top = this.#open.top.name;
    if (name === 'li') this.#closeItem('li', 'li');
    else if (name === 'dd' || name === 'dt') this.#closeItem('dd', 'dt');
    else if (name === 'button') this.#open.close('button', SCOPE);
    else if (name === 'a' || name === 'nobr') this.#endFormatting(name);
    else if (name === 'option' || name === 'optgroup') {
      if (top === 'option') this.#open.pop();
      if (name === 'optgroup' && this.#open.top.name === 'optgroup') this.#open.pop();
    } else if (/^r(?:b|p|t|tc)$/.test(name) && /^r(?:b|p|t|tc)$/.test(top)) {
      this.#open.pop();
    } else if (name === 'table' && (SECTIONS.has(top) || top === 'tr' || top === 'table')) {
      this.#open.close('table', TABLE_SCOPE);
    }
    if (!BLOCKS.has(name)) return;
    this.#open.close('p', BUTTON_SCOPE);
    if (HEADINGS.has(name) && HEADINGS.has(this.#open.top.name)) this.#open.pop();
  }

  #closeItem(name: string, other: string): void {
    if (!this.#open.has(name) && !this.#open.has(other)) return;
    for (let i = this.#open.length - 1; i > 0; i--) {
      const found = this.#open.at(i).name;
      if (found === name || found === other) {
        this.#open.popFrom(i);
        return;
      }
      if (SPECIAL.has(found) && found !== 'address' && found !== 'div' && found !== 'p') return;
    }
  }

  #startTablePart(name: string): void {
    const table = this.#open.find('table', TABLE_SCOPE);
    if (table < 0) {
      if (CELLS.has(name)) this.#closeAbove(CELLS, table);
      else if (name === 'tr') this.#closeAbove(ROWS, table);
    } else {
      if (CELLS.has(name)) this.#open.closeTo(ROW_CONTEXT);
      else if (name === 'tr') this.#open.closeTo(SECTION_CONTEXT);
      else if (name === 'col') this.#open.closeTo(COLUMN_CONTEXT);
      else this.#open.popFrom(table + 1);
      const top = this.#open.top.name;
      if (name === 'col' && top === 'table') this.#supply('colgroup');
      if ((name === 'tr' || CELLS.has(name)) && top === 'table') this.#supply('tbody');
      if (CELLS.has(name) && top !== 'tr') this.#supply('tr');
    }
    const element = this.#insert(name);
    if (name !== 'col') this.#open.push(element);
  }

  /** Without a table: closes the outermost of these names that stands above the last element that may hold them. */
  #closeAbove(names: ReadonlySet<string>, floor: number): void {
    let outermost = -1;
    for (let i = this.#open.length - 1; i > floor && i > 0; i--) {
      const { name } = this.#open.at(i);
      if (names.has(name)) outermost = i;
      else if (SPECIAL.has(name) && !TABLE_PARTS.has(name)) break;
    }
    if (outermost > 0) this.#open.popFrom(outermost);
  }

  // End tags.

  #end(name: string): void {
    this.#dropsNewline = false;
    if (this.#open.endsFlattened(name)) return;
    if (this.#open.top.isForeign && this.#endForeign(name)) return;
    if (name === 'p' || name === 'br') this.#endParagraph(name);
    else if (!this.#open.has(name) && !HEADINGS.has(name)) return;
    else if (name === 'html' || name === 'body' || name === 'frameset') return;
    else if (HEADINGS.has(name)) this.#endHeading();
    else if (name === 'li') this.#open.close(name, LIST_SCOPE);
    else if (name === 'form') this.#endForm();
    else if (name === 'template') this.#open.close(name, TEMPLATE_SCOPE);
    else if (name === 'table' || TABLE_PARTS.has(name)) this.#open.close(name, TABLE_SCOPE);
    else if (FORMATTING.has(name)) this.#endFormatting(name);
    else this.#open.close(name, SPECIAL.has(name) ? SCOPE : SPECIAL);
  }

  #endForeign(name: string): boolean {
    for (let i = this.#open.length - 1; i > 0 && this.#open.at(i).isForeign; i--) {
      if (this.#open.at(i).name !== name) continue;
      this.#open.popFrom(i);
      return true;
    }
    return false;
  }

  #endParagraph(name: string): void {
    const index = name === 'p' ? this.#open.find(name, BUTTON_SCOPE) : -1;
    if (index > 0) {
      this.#open.popFrom(index);
      return;
    }
    if (this.#isBeforeBody) {
      if (name === 'p') return;
      this.#startBody(NONE);
    }
    this.#create(name, this.#open.top, NONE, false);
  }

  /** The end tag of any heading closes the innermost one. */
  #endHeading(): void {
    for (let i = this.#open.length - 1; i > 0; i--) {
      const { name } = this.#open.at(i);
      if (HEADINGS.has(name)) {
        this.#open.popFrom(i);
        return;
      }
      if (SCOPE.has(name)) return;
    }
  }

  #endForm(): void {
    const index = this.#open.find('form', SCOPE);
    if (index > 0) this.#open.remove(index);
  }

  /** Blocks that were opened inside of it stay open. */
  #endFormatting(name: string): void {
    const index = this.#open.find(name, SCOPE);
    if (index < 0) return;
    for (let i = this.#open.length - 1; i > index; i--) {
      if (!SPECIAL.has(this.#open.at(i).name)) continue;
      this.#open.remove(index);
      return;
    }
    this.#open.popFrom(index);
  }
}

/**
 * Works out which HTML elements are open after a list of tags, by the tree construction rules of the HTML standard
 * (13.2.6.4), as far as they change the stack of open elements. Too slow for every tag, and not needed for it: it gets
 * the tags inside templates and the HTML inside svg. It gets those of the whole page only if a stray end tag is inside
 * svg, math or select, as on broken pages.
 */

import { hashName } from './tag-names.ts';

function hashSet(names: string): Set<number> {
  return new Set(names.split(' ').map(hashName));
}

const TABLE = hashName('table');
const TR = hashName('tr');
const CAPTION = hashName('caption');
const P = hashName('p');
const LI = hashName('li');
const A = hashName('a');
const NOBR = hashName('nobr');
const BUTTON = hashName('button');
const FORM = hashName('form');
const TBODY = hashName('tbody');
const OPTION = hashName('option');
const NOSCRIPT = hashName('noscript');

const HEADINGS = hashSet('h1 h2 h3 h4 h5 h6');
const CELLS = hashSet('td th');
const SECTIONS = hashSet('tbody thead tfoot');
const TABLE_PARTS = hashSet('caption col colgroup tbody td tfoot th thead tr');
const TABLE_TAGS = hashSet('table caption tbody td tfoot th thead tr');
const ITEMS = hashSet('dd dt');
const NEVER_OPEN = hashSet(
  'html head body frame frameset col colgroup area base basefont bgsound br embed hr img input keygen link meta param source track wbr image title script style textarea xmp iframe noembed noframes plaintext svg math template select',
);
const FORMATTING = hashSet('a b big code em font i nobr s small strike strong tt u');
const MARKERS = hashSet('applet object marquee td th caption');
const SCOPE = hashSet('applet caption table td th marquee object');
const LIST_SCOPE = hashSet('applet caption table td th marquee object ol ul');
const BUTTON_SCOPE = hashSet('applet caption table td th marquee object button');
const BLOCKS = hashSet(
  'address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer header hgroup main menu nav ol search section summary ul pre listing button',
);
const CLOSES_P = new Set([...BLOCKS, ...HEADINGS, ...ITEMS, ...hashSet('p form li table hr xmp plaintext')]);
CLOSES_P.delete(BUTTON);
const SPECIAL = new Set([
  ...BLOCKS,
  ...HEADINGS,
  ...ITEMS,
  ...TABLE_TAGS,
  ...hashSet('applet marquee object p li form noscript'),
]);
const ITEM_PASSES = hashSet('address div p');

const MARKER = 0;

const one = (hash: number): ReadonlySet<number> => new Set([hash]);

/** The open elements after the tags so far. */
export class OpenElements {
  #stack: number[] = [];
  #active: number[] = [];
  #hasForm = false;
  #isTemplate = false;
  #hasMetTable = false;

  /** Starts again. In a template, parts of a table need no table. */
  reset(isTemplate: boolean): void {
    this.#stack = [];
    this.#active = [];
    this.#hasForm = this.#hasMetTable = false;
    this.#isTemplate = isTemplate;
  }

  #indexInScope(names: ReadonlySet<number>, barriers: ReadonlySet<number>): number {
    for (let i = this.#stack.length - 1; i >= 0; i--) {
      if (names.has(this.#stack[i])) return i;
      if (barriers.has(this.#stack[i])) return -1;
    }
    return -1;
  }

  #cutTo(length: number): void {
    while (this.#stack.length > length) {
      const hash = this.#stack.pop()!;
      if (MARKERS.has(hash)) this.#active.length = Math.max(0, this.#active.lastIndexOf(MARKER));
    }
  }

  #popTo(names: ReadonlySet<number>): void {
    let i = this.#stack.length - 1;
    while (i >= 0 && !names.has(this.#stack[i])) i--;
    if (i >= 0) this.#cutTo(i);
  }

  /** The nearest part of a table around the current node; 0 outside tables. */
  #tableContext(): number {
    for (let i = this.#stack.length - 1; i >= 0; i--) {
      if (TABLE_TAGS.has(this.#stack[i])) return this.#stack[i];
    }
    return 0;
  }

  /** Opens elements again that were closed across others (`<p><b></p>`), as text and most start tags do. */
  reconstruct(): void {
    for (let i = this.#active.lastIndexOf(MARKER) + 1; i < this.#active.length; i++) {
      if (!this.#stack.includes(this.#active[i])) this.#stack.push(this.#active[i]);
    }
  }

  #cutAbove(names: ReadonlySet<number>): void {
    let i = this.#stack.length - 1;
    while (i >= 0 && !names.has(this.#stack[i])) i--;
    this.#cutTo(i + 1);
  }

  #startTablePart(hash: number): void {
    for (;;) {
      const context = this.#tableContext();
      if (context === 0) {
        if (this.#isTemplate && !NEVER_OPEN.has(hash)) this.#stack.push(hash);
        return;
      }
      if (CELLS.has(context) || context === CAPTION) {
        this.#popTo(one(context));
        continue;
      }
      if (CELLS.has(hash)) {
        if (context === TABLE) this.#startTablePart(TBODY);
        if (context !== TR) this.#startTablePart(TR);
        this.#cutAbove(one(TR));
        this.#active.push(MARKER);
        this.#stack.push(hash);
      } else if (hash === TR) {
        if (context === TABLE) this.#startTablePart(TBODY);
        this.#cutAbove(SECTIONS);
        this.#stack.push(hash);
      } else {
        this.#cutAbove(one(TABLE));
        if (hash === CAPTION) this.#active.push(MARKER);
        if (!NEVER_OPEN.has(hash)) this.#stack.push(hash);
      }
      return;
    }
  }

  #closeItem(names: ReadonlySet<number>): void {
    for (let i = this.#stack.length - 1; i >= 0; i--) {
      if (names.has(this.#stack[i])) {
        this.#cutTo(i);
        return;
      }
      if (SPECIAL.has(this.#stack[i]) && !ITEM_PASSES.has(this.#stack[i])) return;
    }
  }

  start(hash: number): void {
    this.#hasMetTable ||= hash === TABLE || TABLE_PARTS.has(hash);
    if (TABLE_PARTS.has(hash)) {
      this.#startTablePart(hash);
      return;
    }
    if (hash === FORM && this.#hasForm) return;
    if (
      hash === TABLE &&
      (SECTIONS.has(this.#tableContext()) || this.#tableContext() === TR || this.#tableContext() === TABLE)
    ) {
      this.#popTo(one(TABLE));
    }
    if (hash === LI) this.#closeItem(one(LI));
    if (ITEMS.has(hash)) this.#closeItem(ITEMS);
    if (CLOSES_P.has(hash)) {
      const p = this.#indexInScope(one(P), BUTTON_SCOPE);
      if (p >= 0) this.#cutTo(p);
    }
    if (HEADINGS.has(hash) && HEADINGS.has(this.#stack[this.#stack.length - 1])) this.#stack.pop();
    if (hash === OPTION && this.#stack[this.#stack.length - 1] === OPTION) this.#stack.pop();
    if (hash === BUTTON) {
      const button = this.#indexInScope(one(BUTTON), SCOPE);
      if (button >= 0) this.#cutTo(button);
    }
    if ((hash === A || hash === NOBR) && this.#active.includes(hash, this.#active.lastIndexOf(MARKER) + 1)) {
      this.#adopt(hash);
      const left = this.#active.lastIndexOf(hash);
      if (left > this.#active.lastIndexOf(MARKER)) this.#active.splice(left, 1);
    }
    if (hash === FORM) this.#hasForm = true;
    if (!CLOSES_P.has(hash)) this.reconstruct();
    if (NEVER_OPEN.has(hash)) return;
    if (MARKERS.has(hash)) this.#active.push(MARKER);
    if (FORMATTING.has(hash)) this.#active.push(hash);
    this.#stack.push(hash);
  }

  /** The adoption agency algorithm, as far as it changes the stack. */
  #adopt(hash: number): void {
    const inList = this.#active.lastIndexOf(hash);
    if (inList <= this.#active.lastIndexOf(MARKER)) {
      this.#endOther(hash);
      return;
    }
    const at = this.#indexInScope(one(hash), SCOPE);
    if (at < 0) {
      if (!this.#stack.includes(hash)) this.#active.splice(inList, 1);
      return;
    }
    this.#active.splice(inList, 1);
    // Blocks inside stay open, with the formatting elements between them. Everything after the last block is closed.
    const last = this.#stack.findLastIndex((other, i) => i > at && SPECIAL.has(other));
    const kept = this.#stack
      .slice(at + 1, last + 1)
      .filter((other) => SPECIAL.has(other) || this.#active.includes(other));
    this.#cutTo(Math.max(last + 1, at));
    this.#stack.splice(at, this.#stack.length - at, ...kept);
  }

  #endOther(hash: number): void {
    for (let i = this.#stack.length - 1; i >= 0; i--) {
      if (this.#stack[i] === hash) {
        this.#cutTo(i);
        return;
      }
      if (SPECIAL.has(this.#stack[i])) return;
    }
  }

  end(hash: number): void {
    if (hash === FORM) {
      const form = this.#indexInScope(one(FORM), SCOPE);
      this.#hasForm = false;
      if (form >= 0) this.#stack.splice(form, 1);
    } else {
      const at = this.#closingIndex(hash, false);
      if (at >= 0) this.#cutTo(at);
      else if (FORMATTING.has(hash)) this.#adopt(hash);
      else if (!SPECIAL.has(hash) || hash === NOSCRIPT) this.#endOther(hash);
    }
  }

  /** Down to where the end tag of a block, item, heading or part of a table closes elements; -1 if it closes none. */
  #closingIndex(hash: number, isFenced: boolean): number {
    if (TABLE_TAGS.has(hash)) {
      if (!this.hasInTableScope(hash)) return -1;
      const context = this.#tableContext();
      if (hash !== TABLE && context === TABLE) return -1;
      return this.#stack.lastIndexOf(hash);
    }
    if (isFenced) return -1;
    if (HEADINGS.has(hash)) return this.#indexInScope(HEADINGS, SCOPE);
    if (hash === LI) return this.#indexInScope(one(LI), LIST_SCOPE);
    if (hash === P) return this.#indexInScope(one(P), BUTTON_SCOPE);
    if (BLOCKS.has(hash) || ITEMS.has(hash) || (MARKERS.has(hash) && !TABLE_TAGS.has(hash))) {
      return this.#indexInScope(one(hash), SCOPE);
    }
    return -1;
  }

  hasInTableScope(hash: number): boolean {
    return this.#indexInScope(one(hash), new Set([TABLE])) >= 0;
  }

  /** Removes an open formatting element, as an `a` inside an `a` does even across svg. */
  forget(hash: number): void {
    const inList = this.#active.lastIndexOf(hash);
    if (inList <= this.#active.lastIndexOf(MARKER)) return;
    this.#active.splice(inList, 1);
    const at = this.#stack.lastIndexOf(hash);
    if (at >= 0) this.#stack.splice(at, 1);
  }

  /** Whether a table or a part of one was ever opened: in a template this changes how end tags are read. */
  get hasMetTable(): boolean {
    return this.#hasMetTable;
  }

  get isEmpty(): boolean {
    return this.#stack.length === 0;
  }

  get isInTable(): boolean {
    return this.#tableContext() !== 0;
  }

  /** Whether the end tag would close what is open above all HTML elements. `isFenced`: inside an integration point. */
  isClosedBy(hash: number, isFenced: boolean): boolean {
    if (this.#closingIndex(hash, isFenced) >= 0) return true;
    if (isFenced || (SPECIAL.has(hash) && hash !== NOSCRIPT)) return false;
    if (FORMATTING.has(hash) && this.#active.lastIndexOf(hash) > this.#active.lastIndexOf(MARKER)) {
      return this.#indexInScope(one(hash), SCOPE) >= 0;
    }
    return this.#indexInScope(one(hash), SPECIAL) >= 0;
  }
}

/**
 * Works out which HTML elements are open after a list of tags, by the tree construction rules of the HTML standard
 * (13.2.6.4) as far as they move the stack of open elements. Too slow for every tag and not needed there: it is fed
 * the tags inside templates and the HTML inside svg, and those of the whole page only when a stray end tag stands
 * inside svg, math or select, as on broken pages.
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

export interface OpenElements {
  /** Begins anew. In a template, parts of a table need no table. */
  reset(isTemplate: boolean): void;
  start(hash: number): void;
  end(hash: number): void;
  /** Opens again what was closed across elements (`<p><b></p>`), as text and most start tags do. */
  reconstruct(): void;
  /** Takes away an open formatting element, as an `a` inside an `a` does even across svg. */
  forget(hash: number): void;
  isEmpty(): boolean;
  /** Whether a table or a part of one was ever opened: in a template that changes how end tags are read. */
  hasMetTable(): boolean;
  /** Whether the end tag would close what is open above all HTML elements. `isFenced`: inside an integration point. */
  isClosedBy(hash: number, isFenced: boolean): boolean;
  isInTable(): boolean;
  hasInTableScope(hash: number): boolean;
}

export function createOpenElements(): OpenElements {
  let stack: number[] = [];
  let active: number[] = [];
  let hasForm = false;
  let isTemplate = false;
  let hasMetTable = false;

  function indexInScope(names: ReadonlySet<number>, barriers: ReadonlySet<number>): number {
    for (let i = stack.length - 1; i >= 0; i--) {
      if (names.has(stack[i])) return i;
      if (barriers.has(stack[i])) return -1;
    }
    return -1;
  }

  const one = (hash: number): ReadonlySet<number> => new Set([hash]);

  function cutTo(length: number): void {
    while (stack.length > length) {
      const hash = stack.pop()!;
      if (MARKERS.has(hash)) active.length = Math.max(0, active.lastIndexOf(MARKER));
    }
  }

  function popTo(names: ReadonlySet<number>): void {
    let i = stack.length - 1;
    while (i >= 0 && !names.has(stack[i])) i--;
    if (i >= 0) cutTo(i);
  }

  /** The nearest part of a table around the current node, 0 outside tables. */
  function tableContext(): number {
    for (let i = stack.length - 1; i >= 0; i--) {
      if (TABLE_TAGS.has(stack[i])) return stack[i];
    }
    return 0;
  }

  function reconstruct(): void {
    for (let i = active.lastIndexOf(MARKER) + 1; i < active.length; i++) {
      if (!stack.includes(active[i])) stack.push(active[i]);
    }
  }

  function cutAbove(names: ReadonlySet<number>): void {
    let i = stack.length - 1;
    while (i >= 0 && !names.has(stack[i])) i--;
    cutTo(i + 1);
  }

  function startTablePart(hash: number): void {
    for (;;) {
      const context = tableContext();
      if (context === 0) {
        if (isTemplate && !NEVER_OPEN.has(hash)) stack.push(hash);
        return;
      }
      if (CELLS.has(context) || context === CAPTION) {
        popTo(one(context));
        continue;
      }
      if (CELLS.has(hash)) {
        if (context === TABLE) startTablePart(TBODY);
        if (context !== TR) startTablePart(TR);
        cutAbove(one(TR));
        active.push(MARKER);
        stack.push(hash);
      } else if (hash === TR) {
        if (context === TABLE) startTablePart(TBODY);
        cutAbove(SECTIONS);
        stack.push(hash);
      } else {
        cutAbove(one(TABLE));
        if (hash === CAPTION) active.push(MARKER);
        if (!NEVER_OPEN.has(hash)) stack.push(hash);
      }
      return;
    }
  }

  function closeItem(names: ReadonlySet<number>): void {
    for (let i = stack.length - 1; i >= 0; i--) {
      if (names.has(stack[i])) {
        cutTo(i);
        return;
      }
      if (SPECIAL.has(stack[i]) && !ITEM_PASSES.has(stack[i])) return;
    }
  }

  function start(hash: number): void {
    hasMetTable ||= hash === TABLE || TABLE_PARTS.has(hash);
    if (TABLE_PARTS.has(hash)) {
      startTablePart(hash);
      return;
    }
    if (hash === FORM && hasForm) return;
    if (
      hash === TABLE &&
      (SECTIONS.has(tableContext()) || tableContext() === TR || tableContext() === TABLE)
    ) {
      popTo(one(TABLE));
    }
    if (hash === LI) closeItem(one(LI));
    if (ITEMS.has(hash)) closeItem(ITEMS);
    if (CLOSES_P.has(hash)) {
      const p = indexInScope(one(P), BUTTON_SCOPE);
      if (p >= 0) cutTo(p);
    }
    if (HEADINGS.has(hash) && HEADINGS.has(stack[stack.length - 1])) stack.pop();
    if (hash === OPTION && stack[stack.length - 1] === OPTION) stack.pop();
    if (hash === BUTTON) {
      const button = indexInScope(one(BUTTON), SCOPE);
      if (button >= 0) cutTo(button);
    }
    if ((hash === A || hash === NOBR) && active.includes(hash, active.lastIndexOf(MARKER) + 1)) {
      adopt(hash);
      const left = active.lastIndexOf(hash);
      if (left > active.lastIndexOf(MARKER)) active.splice(left, 1);
    }
    if (hash === FORM) hasForm = true;
    if (!CLOSES_P.has(hash)) reconstruct();
    if (NEVER_OPEN.has(hash)) return;
    if (MARKERS.has(hash)) active.push(MARKER);
    if (FORMATTING.has(hash)) active.push(hash);
    stack.push(hash);
  }

  /** The adoption agency, as far as it moves the stack. */
  function adopt(hash: number): void {
    const inList = active.lastIndexOf(hash);
    if (inList <= active.lastIndexOf(MARKER)) {
      endOther(hash);
      return;
    }
    const at = indexInScope(one(hash), SCOPE);
    if (at < 0) {
      if (!stack.includes(hash)) active.splice(inList, 1);
      return;
    }
    active.splice(inList, 1);
    // Blocks inside stay open, with the formatting elements between them; all behind the last block is closed.
    const last = stack.findLastIndex((other, i) => i > at && SPECIAL.has(other));
    const kept = stack
      .slice(at + 1, last + 1)
      .filter((other) => SPECIAL.has(other) || active.includes(other));
    cutTo(Math.max(last + 1, at));
    stack.splice(at, stack.length - at, ...kept);
  }

  function endOther(hash: number): void {
    for (let i = stack.length - 1; i >= 0; i--) {
      if (stack[i] === hash) {
        cutTo(i);
        return;
      }
      if (SPECIAL.has(stack[i])) return;
    }
  }

  function end(hash: number): void {
    if (hash === FORM) {
      const form = indexInScope(one(FORM), SCOPE);
      hasForm = false;
      if (form >= 0) stack.splice(form, 1);
    } else {
      const at = closingIndex(hash, false);
      if (at >= 0) cutTo(at);
      else if (FORMATTING.has(hash)) adopt(hash);
      else if (!SPECIAL.has(hash) || hash === NOSCRIPT) endOther(hash);
    }
  }

  /** Down to where the end tag of a block, item, heading or part of a table pops; -1 when it pops nothing. */
  function closingIndex(hash: number, isFenced: boolean): number {
    if (TABLE_TAGS.has(hash)) {
      if (!hasInTableScope(hash)) return -1;
      const context = tableContext();
      if (hash !== TABLE && context === TABLE) return -1;
      return stack.lastIndexOf(hash);
    }
    if (isFenced) return -1;
    if (HEADINGS.has(hash)) return indexInScope(HEADINGS, SCOPE);
    if (hash === LI) return indexInScope(one(LI), LIST_SCOPE);
    if (hash === P) return indexInScope(one(P), BUTTON_SCOPE);
    if (BLOCKS.has(hash) || ITEMS.has(hash) || (MARKERS.has(hash) && !TABLE_TAGS.has(hash))) {
      return indexInScope(one(hash), SCOPE);
    }
    return -1;
  }

  function hasInTableScope(hash: number): boolean {
    return indexInScope(one(hash), new Set([TABLE])) >= 0;
  }

  return {
    reset(asTemplate) {
      stack = [];
      active = [];
      hasForm = hasMetTable = false;
      isTemplate = asTemplate;
    },
    start,
    end,
    reconstruct,
    forget(hash) {
      const inList = active.lastIndexOf(hash);
      if (inList <= active.lastIndexOf(MARKER)) return;
      active.splice(inList, 1);
      const at = stack.lastIndexOf(hash);
      if (at >= 0) stack.splice(at, 1);
    },
    hasMetTable: () => hasMetTable,
    isEmpty: () => stack.length === 0,
    isClosedBy(hash, isFenced) {
      if (closingIndex(hash, isFenced) >= 0) return true;
      if (isFenced || (SPECIAL.has(hash) && hash !== NOSCRIPT)) return false;
      if (FORMATTING.has(hash) && active.lastIndexOf(hash) > active.lastIndexOf(MARKER)) {
        return indexInScope(one(hash), SCOPE) >= 0;
      }
      return indexInScope(one(hash), SPECIAL) >= 0;
    },
    isInTable: () => tableContext() !== 0,
    hasInTableScope,
  };
}

/**
 * The stack of elements inside which HTML is read by other rules: svg, math, template and select, with what is
 * open inside svg and math. Empty on most pages, and then never called.
 * A stray end tag inside them is decided by the elements open around them, worked out from a log of the tags before;
 * as hardly any page needs the log, it is kept only in a second reading, which `needsLog` asks for. Where even this
 * does not tell (parts of tables across svg or templates), it raises `isInDoubt`: from there on the scanner counts
 * every link it sees, so that none is ever missed.
 */

import { createOpenElements, type OpenElements } from './open-elements.ts';
import { FLAG, hashName, TAG_FLAGS, tagId } from './tag-names.ts';

/** How a start tag is to be read. */
export const READ_AS = { html: 0, foreign: 1, nothing: 2 } as const;

/** `point` and `mathTextPoint`: elements of svg and math whose content is HTML. */
const KIND = { none: 0, svg: 1, math: 2, point: 3, mathTextPoint: 4, template: 5, select: 6 } as const;

const SVG = tagId('svg');
const MATH = tagId('math');
const TEMPLATE = tagId('template');
const SELECT = tagId('select');
const SCRIPT = tagId('script');
const FONT = tagId('font');
const ANNOTATION_XML = tagId('annotation-xml');
const ANNOTATION_HASH = hashName('annotation-xml');
const A = tagId('a');
const NOBR = tagId('nobr');
const P = tagId('p');
const BR = tagId('br');

function idSet(names: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const name of names.split(' ')) set[tagId(name)] = 1;
  return set;
}

const LEAVES_SELECT = idSet('input keygen textarea');
const TABLE_PART = idSet('caption table tbody tfoot thead tr td th');
const SVG_POINT = idSet('foreignobject desc title');
const MATH_TEXT_POINT = idSet('mi mo mn ms mtext');
const MATH_GLYPH = idSet('mglyph malignmark');

export interface SpecialElements {
  depth: number;
  templates: number;
  isInDoubt: boolean;
  /** Decisions were made without a log that was needed: to be read again with one. */
  needsLog: boolean;
  reset(hasLog: boolean): void;
  /** CDATA sections count between elements of svg and math. */
  allowsCdata(): boolean;
  /** True when text here is no part of the page's text. */
  isMute(): boolean;
  start(hash: number, id: number, isSelfClosing: boolean, hasForeignHint: boolean): number;
  end(hash: number, id: number): void;
  /** Remembers a tag outside all special elements. */
  log(hash: number, isEnd: number): void;
}

/** The tags of a page outside special elements, and what is open after them when somebody asks. */
function createTagLog() {
  let hashes = new Int32Array(4096);
  let ends = new Uint8Array(4096);
  let count = 0;
  let replayed = 0;
  const open = createOpenElements();
  return {
    reset(): void {
      count = replayed = 0;
      open.reset(false);
    },
    log(hash: number, isEnd: number): void {
      if (count === hashes.length) {
        const moreHashes = new Int32Array(count * 2);
        moreHashes.set(hashes);
        hashes = moreHashes;
        const moreEnds = new Uint8Array(count * 2);
        moreEnds.set(ends);
        ends = moreEnds;
      }
      hashes[count] = hash;
      ends[count++] = isEnd;
    },
    elements(): OpenElements {
      for (; replayed < count; replayed++) {
        if (ends[replayed] === 1) open.end(hashes[replayed]);
        else open.start(hashes[replayed]);
      }
      open.reconstruct();
      return open;
    },
  };
}

export function createSpecialElements(): SpecialElements {
  const hashes: number[] = [];
  const kinds: number[] = [];
  /** What is open inside the point or template at that depth. */
  const contents: OpenElements[] = [];
  const root = createTagLog();
  let hasLog = false;

  function rootElements(): OpenElements {
    if (!hasLog) self.needsLog = true;
    return root.elements();
  }

  function push(hash: number, kind: number): void {
    const depth = self.depth++;
    hashes[depth] = hash;
    kinds[depth] = kind;
    contents[depth] ??= createOpenElements();
    if (kind === KIND.template) self.templates++;
    if (kind >= KIND.point) contents[depth].reset(kind === KIND.template);
  }

  function cutTo(depth: number): void {
    while (self.depth > depth) if (kinds[--self.depth] === KIND.template) self.templates--;
  }

  function top(): number {
    return self.depth === 0 ? KIND.none : kinds[self.depth - 1];
  }

  /** What is open around the entry at `depth`: in the next point or template below it, or on the page. */
  function around(depth: number): OpenElements {
    let i = depth - 1;
    while (i >= 0 && (kinds[i] < KIND.point || kinds[i] === KIND.select)) i--;
    return i < 0 ? rootElements() : contents[i];
  }

  /** Is the current node an element of svg or math? */
  function isForeign(): boolean {
    const kind = top();
    if (kind === KIND.point || kind === KIND.mathTextPoint) return contents[self.depth - 1].isEmpty();
    return kind === KIND.svg || kind === KIND.math;
  }

  function leaveForeign(): void {
    while (top() === KIND.svg || top() === KIND.math) self.depth--;
  }

  function closeTemplate(): void {
    if (self.templates === 0) return;
    let i = self.depth - 1;
    while (kinds[i] !== KIND.template) i--;
    cutTo(i);
  }

  /** A part of a table that reaches beyond the point (or, once in a table, the templates) around it may close that. */
  function doubtTable(id: number, depth: number): void {
    if (TABLE_PART[id] === 0 || depth === 0 || !rootElements().isInTable()) return;
    const isSimple = kinds[depth - 1] === KIND.template && self.templates === 1;
    if (!isSimple || contents[depth - 1].hasMetTable()) self.isInDoubt = true;
  }

  function forgetAround(hash: number): void {
    for (let i = self.depth - 1; i >= 0; i--) {
      if (kinds[i] === KIND.template) return;
      if (kinds[i] >= KIND.point && i < self.depth - 1) contents[i].forget(hash);
    }
    rootElements().forget(hash);
  }

  /** -1: the select was left, read the tag again. */
  function startInSelect(id: number): number {
    if (id === SCRIPT || id === TEMPLATE) return READ_AS.html;
    if (id === SELECT) {
      self.depth--;
      return READ_AS.nothing;
    }
    if (TABLE_PART[id] === 1) {
      doubtTable(id, self.depth - 1);
      if (!around(self.depth - 1).isInTable()) return READ_AS.nothing;
    } else if (LEAVES_SELECT[id] === 0) {
      return READ_AS.nothing;
    }
    self.depth--;
    return -1;
  }

  function startForeign(hash: number, id: number, hasForeignHint: boolean): void {
    const parent = top();
    if (parent === KIND.svg) {
      push(hash, SVG_POINT[id] === 1 ? KIND.point : KIND.svg);
    } else if (MATH_TEXT_POINT[id] === 1) {
      push(hash, KIND.mathTextPoint);
    } else {
      push(hash, id === ANNOTATION_XML && hasForeignHint ? KIND.point : KIND.math);
    }
  }

  function startHtml(hash: number, id: number, isSelfClosing: boolean): number {
    const content = self.depth === 0 ? null : contents[self.depth - 1];
    if (id === SVG || id === MATH) {
      content?.reconstruct();
      if (!isSelfClosing) push(hash, id === SVG ? KIND.svg : KIND.math);
      return READ_AS.foreign;
    }
    if (id === TEMPLATE) {
      push(hash, KIND.template);
    } else if (id === SELECT) {
      content?.reconstruct();
      push(hash, KIND.select);
    } else if (content !== null) {
      if (!content.isInTable()) doubtTable(id, self.depth);
      if (id === A || id === NOBR) forgetAround(hash);
      content.start(hash);
    } else {
      root.log(hash, 0);
    }
    return READ_AS.html;
  }

  function start(hash: number, id: number, isSelfClosing: boolean, hasForeignHint: boolean): number {
    for (;;) {
      const parent = top();
      if (parent === KIND.select) {
        const verdict = startInSelect(id);
        if (verdict < 0) continue;
        if (verdict === READ_AS.html && id === TEMPLATE) push(hash, KIND.template);
        return verdict;
      }
      const isGlyph = parent === KIND.mathTextPoint && MATH_GLYPH[id] === 1 && isForeign();
      if (parent !== KIND.svg && parent !== KIND.math && !isGlyph) return startHtml(hash, id, isSelfClosing);
      if (parent === KIND.math && id === SVG && hashes[self.depth - 1] === ANNOTATION_HASH) {
        return startHtml(hash, id, isSelfClosing);
      }
      if ((TAG_FLAGS[id] & FLAG.breaksOut) !== 0 || (id === FONT && hasForeignHint)) {
        leaveForeign();
        continue;
      }
      if (!isSelfClosing) startForeign(hash, id, hasForeignHint);
      return READ_AS.foreign;
    }
  }

  /** An end tag by the rules of HTML, with svg or math elements from `depth` upwards as the innermost open ones. */
  function endHtml(hash: number, id: number, depth: number): void {
    if (id === TEMPLATE) {
      closeTemplate();
      return;
    }
    let isFenced = false;
    for (let k = depth; k < self.depth; k++) isFenced ||= kinds[k] >= KIND.point;
    const content = depth === 0 ? rootElements() : contents[depth - 1];
    if (self.depth > depth && !content.isClosedBy(hash, isFenced)) {
      doubtTable(id, depth);
      return;
    }
    if (!content.hasInTableScope(hash)) doubtTable(id, depth);
    cutTo(depth);
    if (depth === 0) root.log(hash, 1);
    else content.end(hash);
  }

  function endForeign(hash: number, id: number): void {
    if (id === P || id === BR) {
      leaveForeign();
      endHtml(hash, id, self.depth);
      return;
    }
    let i = self.depth - 1;
    for (; i >= 0 && kinds[i] <= KIND.mathTextPoint; i--) {
      if (kinds[i] >= KIND.point && !contents[i].isEmpty()) break;
      if (hashes[i] === hash) {
        cutTo(i);
        return;
      }
    }
    endHtml(hash, id, i + 1);
  }

  function end(hash: number, id: number): void {
    if (top() !== KIND.select) {
      if (isForeign()) endForeign(hash, id);
      else endHtml(hash, id, self.depth);
    } else if (id === SELECT) {
      self.depth--;
    } else if (id === TEMPLATE) {
      closeTemplate();
    } else if (TABLE_PART[id] === 1) {
      doubtTable(id, self.depth - 1);
      if (!around(self.depth - 1).hasInTableScope(hash)) return;
      self.depth--;
      if (self.depth === 0) root.log(hash, 1);
      else end(hash, id);
    }
  }

  const self: SpecialElements = {
    depth: 0,
    templates: 0,
    isInDoubt: false,
    needsLog: false,
    reset(isLogged) {
      hasLog = isLogged;
      self.needsLog = false;
      self.depth = 0;
      self.templates = 0;
      self.isInDoubt = false;
      root.reset();
    },
    log: root.log,
    allowsCdata: () => top() === KIND.svg || top() === KIND.math,
    isMute: () => self.depth > 0 && (self.templates > 0 || kinds[0] !== KIND.math),
    start,
    end,
  };
  return self;
}

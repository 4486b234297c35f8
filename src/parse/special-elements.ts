/**
 * The stack of elements inside which HTML is read by other rules: svg, math, template and select, with what is open
 * inside svg and math. It is empty on most pages, and then never called.
 *
 * The open elements around it decide about a stray end tag; they are worked out from a log of the tags before. Hardly
 * any page needs the log, so it is kept only in a second reading, which `needsLog` asks for. If even this does not
 * decide (parts of tables across svg or templates), `isInDoubt` is set: from there on the scanner counts every link, so
 * that none is ever missed.
 */

import { OpenElements } from './open-elements.ts';
import { createTagLog } from './tag-log.ts';
import { FLAG, hashName, TAG_FLAGS, tagId } from './tag-names.ts';

/** How a start tag must be read. */
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

export class SpecialElements {
  depth = 0;
  templates = 0;
  isInDoubt = false;
  /** A decision needed the log: read the page again with one. */
  needsLog = false;
  readonly #hashes: number[] = [];
  readonly #kinds: number[] = [];
  /** The open elements inside the point or template at that depth. */
  readonly #contents: OpenElements[] = [];
  readonly #root = createTagLog();
  #hasLog = false;

  reset(hasLog: boolean): void {
    this.#hasLog = hasLog;
    this.needsLog = this.isInDoubt = false;
    this.depth = this.templates = 0;
    this.#root.reset();
  }

  /** Remembers a tag outside all special elements. */
  log(hash: number, isEnd: number): void {
    this.#root.log(hash, isEnd);
  }

  /** CDATA sections count between elements of svg and math. */
  get allowsCdata(): boolean {
    return this.#top() === KIND.svg || this.#top() === KIND.math;
  }

  /** True if text here does not belong to the page's text. */
  get isMute(): boolean {
    return this.depth > 0 && (this.templates > 0 || this.#kinds[0] !== KIND.math);
  }

  #rootElements(): OpenElements {
    if (!this.#hasLog) this.needsLog = true;
    return this.#root.elements();
  }

  #push(hash: number, kind: number): void {
    const depth = this.depth++;
    this.#hashes[depth] = hash;
    this.#kinds[depth] = kind;
    this.#contents[depth] ??= new OpenElements();
    if (kind === KIND.template) this.templates++;
    if (kind >= KIND.point) this.#contents[depth].reset(kind === KIND.template);
  }

  #cutTo(depth: number): void {
    while (this.depth > depth) if (this.#kinds[--this.depth] === KIND.template) this.templates--;
  }

  #top(): number {
    return this.depth === 0 ? KIND.none : this.#kinds[this.depth - 1];
  }

  /** The open elements around the entry at `depth`: in the next point or template below it, or on the page. */
  #around(depth: number): OpenElements {
    let i = depth - 1;
    while (i >= 0 && (this.#kinds[i] < KIND.point || this.#kinds[i] === KIND.select)) i--;
    return i < 0 ? this.#rootElements() : this.#contents[i];
  }

  /** Is the current node an element of svg or math? */
  #isForeign(): boolean {
    const kind = this.#top();
    if (kind === KIND.point || kind === KIND.mathTextPoint) return this.#contents[this.depth - 1].isEmpty;
    return kind === KIND.svg || kind === KIND.math;
  }

  #leaveForeign(): void {
    while (this.#top() === KIND.svg || this.#top() === KIND.math) this.depth--;
  }

  #closeTemplate(): void {
    if (this.templates === 0) return;
    let i = this.depth - 1;
    while (this.#kinds[i] !== KIND.template) i--;
    this.#cutTo(i);
  }

  /** A part of a table that reaches beyond the point (or, inside a table, beyond the templates) may close the point. */
  #doubtTable(id: number, depth: number): void {
    if (TABLE_PART[id] === 0 || depth === 0 || !this.#rootElements().isInTable) return;
    const isSimple = this.#kinds[depth - 1] === KIND.template && this.templates === 1;
    if (!isSimple || this.#contents[depth - 1].hasMetTable) this.isInDoubt = true;
  }

  #forgetAround(hash: number): void {
    for (let i = this.depth - 1; i >= 0; i--) {
      if (this.#kinds[i] === KIND.template) return;
      if (this.#kinds[i] >= KIND.point && i < this.depth - 1) this.#contents[i].forget(hash);
    }
    this.#rootElements().forget(hash);
  }

  /** -1: the select was left, read the tag again. */
  #startInSelect(id: number): number {
    if (id === SCRIPT || id === TEMPLATE) return READ_AS.html;
    if (id === SELECT) {
      this.depth--;
      return READ_AS.nothing;
    }
    if (TABLE_PART[id] === 1) {
      this.#doubtTable(id, this.depth - 1);
      if (!this.#around(this.depth - 1).isInTable) return READ_AS.nothing;
    } else if (LEAVES_SELECT[id] === 0) {
      return READ_AS.nothing;
    }
    this.depth--;
    return -1;
  }

  #startForeign(hash: number, id: number, hasForeignHint: boolean): void {
    const parent = this.#top();
    if (parent === KIND.svg) {
      this.#push(hash, SVG_POINT[id] === 1 ? KIND.point : KIND.svg);
    } else if (MATH_TEXT_POINT[id] === 1) {
      this.#push(hash, KIND.mathTextPoint);
    } else {
      this.#push(hash, id === ANNOTATION_XML && hasForeignHint ? KIND.point : KIND.math);
    }
  }

  #startHtml(hash: number, id: number, isSelfClosing: boolean): number {
    const content = this.depth === 0 ? null : this.#contents[this.depth - 1];
    if (id === SVG || id === MATH) {
      content?.reconstruct();
      if (!isSelfClosing) this.#push(hash, id === SVG ? KIND.svg : KIND.math);
      return READ_AS.foreign;
    }
    if (id === TEMPLATE) {
      this.#push(hash, KIND.template);
    } else if (id === SELECT) {
      content?.reconstruct();
      this.#push(hash, KIND.select);
    } else if (content !== null) {
      if (!content.isInTable) this.#doubtTable(id, this.depth);
      if (id === A || id === NOBR) this.#forgetAround(hash);
      content.start(hash);
    } else {
      this.#root.log(hash, 0);
    }
    return READ_AS.html;
  }

  start(hash: number, id: number, isSelfClosing: boolean, hasForeignHint: boolean): number {
    for (;;) {
      const parent = this.#top();
      if (parent === KIND.select) {
        const verdict = this.#startInSelect(id);
        if (verdict < 0) continue;
        if (verdict === READ_AS.html && id === TEMPLATE) this.#push(hash, KIND.template);
        return verdict;
      }
      const isGlyph = parent === KIND.mathTextPoint && MATH_GLYPH[id] === 1 && this.#isForeign();
      if (parent !== KIND.svg && parent !== KIND.math && !isGlyph)
        return this.#startHtml(hash, id, isSelfClosing);
      if (parent === KIND.math && id === SVG && this.#hashes[this.depth - 1] === ANNOTATION_HASH) {
        return this.#startHtml(hash, id, isSelfClosing);
      }
      if ((TAG_FLAGS[id] & FLAG.breaksOut) !== 0 || (id === FONT && hasForeignHint)) {
        this.#leaveForeign();
        continue;
      }
      if (!isSelfClosing) this.#startForeign(hash, id, hasForeignHint);
      return READ_AS.foreign;
    }
  }

  /** An end tag by the rules of HTML, with svg or math elements from `depth` upwards as the innermost open ones. */
  #endHtml(hash: number, id: number, depth: number): void {
    if (id === TEMPLATE) {
      this.#closeTemplate();
      return;
    }
    let isFenced = false;
    for (let k = depth; k < this.depth; k++) isFenced ||= this.#kinds[k] >= KIND.point;
    const content = depth === 0 ? this.#rootElements() : this.#contents[depth - 1];
    if (this.depth > depth && !content.isClosedBy(hash, isFenced)) {
      this.#doubtTable(id, depth);
      return;
    }
    if (!content.hasInTableScope(hash)) this.#doubtTable(id, depth);
    this.#cutTo(depth);
    if (depth === 0) this.#root.log(hash, 1);
    else content.end(hash);
  }

  #endForeign(hash: number, id: number): void {
    if (id === P || id === BR) {
      this.#leaveForeign();
      this.#endHtml(hash, id, this.depth);
      return;
    }
    let i = this.depth - 1;
    for (; i >= 0 && this.#kinds[i] <= KIND.mathTextPoint; i--) {
      if (this.#kinds[i] >= KIND.point && !this.#contents[i].isEmpty) break;
      if (this.#hashes[i] === hash) {
        this.#cutTo(i);
        return;
      }
    }
    this.#endHtml(hash, id, i + 1);
  }

  end(hash: number, id: number): void {
    if (this.#top() !== KIND.select) {
      if (this.#isForeign()) this.#endForeign(hash, id);
      else this.#endHtml(hash, id, this.depth);
    } else if (id === SELECT) {
      this.depth--;
    } else if (id === TEMPLATE) {
      this.#closeTemplate();
    } else if (TABLE_PART[id] === 1) {
      this.#doubtTable(id, this.depth - 1);
      if (!this.#around(this.depth - 1).hasInTableScope(hash)) return;
      this.depth--;
      if (this.depth === 0) this.#root.log(hash, 1);
      else this.end(hash, id);
    }
  }
}

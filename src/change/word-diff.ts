/**
 * The difference of two texts in words: parts that were kept, removed, added. Comes after a text is known to have
 * changed. Promises bounded time and memory for any two texts: the search for the shortest edit (Myers' greedy
 * algorithm) has a limit. Beyond it, words that both texts have once are fixed, and the text between them is compared
 * separately. At worst the diff is coarser, never wrong. Knows nothing of pages.
 */
import type { DiffPiece } from './visit-record.ts';

export interface WordDiff {
  /**
   * Complete: kept and removed words are the one text, kept and added words the other. There is a space between two
   * pieces.
   */
  pieces: DiffPiece[];
  wordsAdded: number;
  wordsRemoved: number;
}

/**
 * The most edits of one stretch. Beyond, it is compared more coarsely, because the search needs memory for the square
 * of this number.
 */
const MOST_EDITS = 600;
/** Steps of all searches of one diff: some tens of milliseconds. */
const MOST_STEPS = 8_000_000;
/** How often stretches that anchors cut may be cut again. */
const MOST_CUTS = 8;

/** Scripts without spaces between words are compared by character. */
const UNSPACED_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((name) => `\\p{Script=${name}}`)
  .join('');
const UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}]`, 'u');
const CHARACTERS_AND_WORDS = new RegExp(`[${UNSPACED_SCRIPTS}]\\p{M}*|[^\\s${UNSPACED_SCRIPTS}]+`, 'gu');

interface Words {
  text: string;
  count: number;
  /** The same word has the same number in both texts. */
  ids: Int32Array;
  starts: Int32Array;
  ends: Int32Array;
}

/** White space must be folded already. */
function readWords(text: string, isUnspaced: boolean, numbers: Map<string, number>): Words {
  const words = isUnspaced ? (text.match(CHARACTERS_AND_WORDS) ?? []) : text === '' ? [] : text.split(' ');
  const ids = new Int32Array(words.length);
  const starts = new Int32Array(words.length);
  const ends = new Int32Array(words.length);
  let at = 0;
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    let id = numbers.get(word);
    if (id === undefined) {
      id = numbers.size;
      numbers.set(word, id);
    }
    ids[index] = id;
    if (text.charCodeAt(at) === SPACE) at++;
    starts[index] = at;
    at += word.length;
    ends[index] = at;
  }
  return { text, count: words.length, ids, starts, ends };
}

const SPACE = 0x20;

function foldText(text: string): string {
  const trimmed = text.trim();
  return /[^\S ]| {2}/.test(trimmed) ? trimmed.replace(/\s+/g, ' ') : trimmed;
}

/** The largest size up to `most` that passes, if all smaller ones do: the runtime compares texts faster than a loop. */
function longest(most: number, passes: (size: number) => boolean): number {
  let [low, high] = [0, most];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (passes(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** How many characters the beginnings of both texts share, up to a space; from the end, from a space on. */
function commonStart(a: string, b: string): number {
  const at = longest(Math.min(a.length, b.length), (size) => a.slice(0, size) === b.slice(0, size));
  return at === 0 ? 0 : a.lastIndexOf(' ', at - 1) + 1;
}

function commonEnd(a: string, b: string, from: number): number {
  const most = Math.min(a.length, b.length) - from;
  const size = longest(most, (tried) => a.slice(a.length - tried) === b.slice(b.length - tried));
  const space = size === 0 ? -1 : a.indexOf(' ', a.length - size);
  return space === -1 ? 0 : a.length - space;
}

/** A stretch of both texts, ends excluded. */
interface Stretch {
  beforeStart: number;
  beforeEnd: number;
  afterStart: number;
  afterEnd: number;
}

/** So many characters of the common beginning and end stay in the pieces beside the change. */
export function diffWords(before: string, after: string, outer = Number.POSITIVE_INFINITY): WordDiff {
  // Most pages change in one place: the common text before and after it need not be read word by word.
  const start = commonStart(before, after);
  const end = commonEnd(before, after, start);
  const whole = foldText(before.slice(start, before.length - end));
  const other = foldText(after.slice(start, after.length - end));
  const isUnspaced = UNSPACED.test(whole) || UNSPACED.test(other);
  const numbers = new Map<string, number>();
  const a = readWords(whole, isUnspaced, numbers);
  const b = readWords(other, isUnspaced, numbers);
  const diff = compareWords(a, b, numbers.size);
  const head = foldText(after.slice(Math.max(0, start - outer), start));
  const tail = foldText(after.slice(after.length - end).slice(0, outer));
  return { ...diff, pieces: withEnds(diff.pieces, head, tail) };
}

function withEnds(pieces: DiffPiece[], start: string, end: string): DiffPiece[] {
  const all = [...pieces];
  if (start !== '') {
    const [first] = all;
    if (first?.[0] === '=') all[0] = ['=', `${start} ${first[1]}`];
    else all.unshift(['=', start]);
  }
  if (end !== '') {
    const last = all.at(-1);
    if (last?.[0] === '=') all[all.length - 1] = ['=', `${last[1]} ${end}`];
    else all.push(['=', end]);
  }
  return all;
}

function compareWords(a: Words, b: Words, wordCount: number): WordDiff {
  /** 1 if a word of the one text has no partner in the other. */
  const removed = new Uint8Array(a.count);
  const added = new Uint8Array(b.count);
  const search = createEditSearch(a.ids, b.ids, removed, added);
  const anchors = createAnchors(a.ids, b.ids, wordCount);
  const all = { beforeStart: 0, beforeEnd: a.count, afterStart: 0, afterEnd: b.count };
  const waiting: [stretch: Stretch, cuts: number][] = [[all, 0]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [stretch, cuts] = [trimmed(next[0], a.ids, b.ids), next[1]];
    const { beforeStart, beforeEnd, afterStart, afterEnd } = stretch;
    const isOneSided = beforeStart === beforeEnd || afterStart === afterEnd;
    if (!isOneSided && search(stretch)) continue;
    const parts = isOneSided || cuts === MOST_CUTS ? [] : anchors(stretch);
    if (parts.length > 0) {
      for (const part of parts) waiting.push([part, cuts + 1]);
    } else {
      removed.fill(1, beforeStart, beforeEnd);
      added.fill(1, afterStart, afterEnd);
    }
  }
  return assemble(a, b, removed, added);
}

/** Without the common part at both ends. */
function trimmed(stretch: Stretch, a: Int32Array, b: Int32Array): Stretch {
  let { beforeStart, beforeEnd, afterStart, afterEnd } = stretch;
  while (beforeStart < beforeEnd && afterStart < afterEnd && a[beforeStart] === b[afterStart]) {
    beforeStart++;
    afterStart++;
  }
  while (beforeStart < beforeEnd && afterStart < afterEnd && a[beforeEnd - 1] === b[afterEnd - 1]) {
    beforeEnd--;
    afterEnd--;
  }
  return { beforeStart, beforeEnd, afterStart, afterEnd };
}

/**
 * E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the greedy search that keeps its trace: with
 * so few edits this needs less than the variation in linear space. Marks what it finds; false if it gave up.
 */
function createEditSearch(a: Int32Array, b: Int32Array, removed: Uint8Array, added: Uint8Array) {
  let stepsLeft = MOST_STEPS;
  /** The furthest place in `a` on each diagonal, and its values before each round, one round after the other. */
  const furthest = new Int32Array(2 * MOST_EDITS + 3);
  const middle = MOST_EDITS + 1;
  const trace: Int32Array[] = [];

  function walkBack(stretch: Stretch, edits: number): void {
    const { beforeStart, beforeEnd, afterStart, afterEnd } = stretch;
    let x = beforeEnd - beforeStart;
    let y = afterEnd - afterStart;
    for (let d = edits; d > 0; d--) {
      const known = trace[d - 1];
      const at = (diagonal: number) => known[diagonal + d];
      const k = x - y;
      const isDown = k === -d || (k !== d && at(k - 1) < at(k + 1));
      const from = isDown ? k + 1 : k - 1;
      x = at(from);
      y = x - from;
      if (isDown) added[afterStart + y] = 1;
      else removed[beforeStart + x] = 1;
    }
  }

  return (stretch: Stretch): boolean => {
    const { beforeStart, beforeEnd, afterStart, afterEnd } = stretch;
    const n = beforeEnd - beforeStart;
    const m = afterEnd - afterStart;
    // A difference of so many words needs at least so many edits.
    if (Math.abs(n - m) > MOST_EDITS) return false;
    furthest[middle + 1] = 0;
    for (let d = 0; d <= MOST_EDITS && stepsLeft > 0; d++) {
      if (d > 0) trace[d - 1] = furthest.slice(middle - d, middle + d + 1);
      for (let k = -d; k <= d; k += 2) {
        const isDown = k === -d || (k !== d && furthest[middle + k - 1] < furthest[middle + k + 1]);
        let x = isDown ? furthest[middle + k + 1] : furthest[middle + k - 1] + 1;
        const from = x;
        while (x < n && x - k < m && a[beforeStart + x] === b[afterStart + x - k]) x++;
        furthest[middle + k] = x;
        stepsLeft -= 1 + x - from;
        if (x >= n && x - k >= m) {
          walkBack(stretch, d);
          return true;
        }
      }
    }
    return false;
  };
}

/**
 * Cuts a stretch at the words that both sides have exactly once, if these are in the same order (the longest such row).
 * Empty if there is none.
 */
function createAnchors(a: Int32Array, b: Int32Array, wordCount: number) {
  const inBefore = new Int32Array(wordCount);
  const inAfter = new Int32Array(wordCount);
  const placeInAfter = new Int32Array(wordCount);

  function count(stretch: Stretch, by: 1 | -1): void {
    for (let i = stretch.beforeStart; i < stretch.beforeEnd; i++) inBefore[a[i]] += by;
    for (let j = stretch.afterStart; j < stretch.afterEnd; j++) {
      inAfter[b[j]] += by;
      placeInAfter[b[j]] = j;
    }
  }

  return (stretch: Stretch): Stretch[] => {
    count(stretch, 1);
    const places: [number, number][] = [];
    for (let i = stretch.beforeStart; i < stretch.beforeEnd; i++) {
      const id = a[i];
      if (inBefore[id] === 1 && inAfter[id] === 1) places.push([i, placeInAfter[id]]);
    }
    count(stretch, -1);
    const parts: Stretch[] = [];
    let { beforeStart, afterStart } = stretch;
    for (const [i, j] of longestRise(places)) {
      parts.push({ beforeStart, beforeEnd: i, afterStart, afterEnd: j });
      beforeStart = i + 1;
      afterStart = j + 1;
    }
    if (parts.length > 0)
      parts.push({ beforeStart, beforeEnd: stretch.beforeEnd, afterStart, afterEnd: stretch.afterEnd });
    return parts;
  };
}

/** The longest row of pairs whose second numbers grow; the first numbers already do. */
function longestRise(pairs: readonly [number, number][]): [number, number][] {
  /** By length of row: the pair that ends the best row of that length. */
  const ends: number[] = [];
  const previous = new Int32Array(pairs.length);
  for (const [index, [, second]] of pairs.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const half = (low + high) >> 1;
      if (pairs[ends[half]][1] < second) low = half + 1;
      else high = half;
    }
    previous[index] = low === 0 ? -1 : ends[low - 1];
    ends[low] = index;
  }
  const row: [number, number][] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at]) row.push(pairs[at]);
  return row.reverse();
}

/** Short kept parts between two longer changes only make a diff hard to read. */
const SHORTEST_KEPT = 2;

interface Run {
  isKept: boolean;
  beforeStart: number;
  beforeEnd: number;
  afterStart: number;
  afterEnd: number;
}

function assemble(a: Words, b: Words, removed: Uint8Array, added: Uint8Array): WordDiff {
  const runs: Run[] = [];
  let i = 0;
  let j = 0;
  while (i < a.count || j < b.count) {
    const [beforeStart, afterStart] = [i, j];
    while (i < a.count && removed[i] === 1) i++;
    while (j < b.count && added[j] === 1) j++;
    const isKept = i === beforeStart && j === afterStart;
    while (isKept && i < a.count && j < b.count && removed[i] === 0 && added[j] === 0) {
      i++;
      j++;
    }
    runs.push({ isKept, beforeStart, beforeEnd: i, afterStart, afterEnd: j });
  }
  const pieces: DiffPiece[] = [];
  let wordsAdded = 0;
  let wordsRemoved = 0;
  for (const run of joined(runs)) {
    if (run.isKept) {
      pieces.push(['=', textOf(b, run.afterStart, run.afterEnd)]);
      continue;
    }
    wordsRemoved += run.beforeEnd - run.beforeStart;
    wordsAdded += run.afterEnd - run.afterStart;
    if (run.beforeEnd > run.beforeStart) pieces.push(['-', textOf(a, run.beforeStart, run.beforeEnd)]);
    if (run.afterEnd > run.afterStart) pieces.push(['+', textOf(b, run.afterStart, run.afterEnd)]);
  }
  return { pieces, wordsAdded, wordsRemoved };
}

/** Joins very short kept parts with the changes on both sides. */
function joined(runs: readonly Run[]): Run[] {
  const result: Run[] = [];
  for (const [at, run] of runs.entries()) {
    const last = result.at(-1);
    const isLost =
      run.isKept &&
      run.afterEnd - run.afterStart <= SHORTEST_KEPT &&
      last !== undefined &&
      at + 1 < runs.length &&
      sizeOf(last) > 2 * sizeOf(run) &&
      sizeOf(runs[at + 1]) > 2 * sizeOf(run);
    if (last !== undefined && !last.isKept && (isLost || !run.isKept)) {
      last.beforeEnd = run.beforeEnd;
      last.afterEnd = run.afterEnd;
    } else {
      result.push({ ...run });
    }
  }
  return result;
}

/** Words of the longer side. */
const sizeOf = (run: Run) => Math.max(run.beforeEnd - run.beforeStart, run.afterEnd - run.afterStart);

function textOf({ text, starts, ends }: Words, from: number, to: number): string {
  return text.slice(starts[from], ends[to - 1]);
}

/** Words that are shown at each end of a kept part and of a changed part, and the most pieces. */
const KEPT_WORDS = 10;
const CHANGED_WORDS = 400;
const MOST_PIECES = 300;

/** Characters of the outer parts, far more than `cutPieces` leaves: the rest need not be folded. */
export const SHOWN_OF_OUTER = 2000;

/** The diff as it is kept: long parts cut to their ends, with an ellipsis. */
export function cutPieces(pieces: readonly DiffPiece[]): DiffPiece[] {
  const shown: DiffPiece[] = [];
  for (const [index, [kind, text]] of pieces.entries()) {
    if (index === MOST_PIECES) {
      shown.push(['=', ELLIPSIS]);
      break;
    }
    const isFirst = index === 0;
    const isLast = index === pieces.length - 1;
    if (kind === '=') shown.push([kind, cutRun(text, isFirst ? 0 : KEPT_WORDS, isLast ? 0 : KEPT_WORDS)]);
    else shown.push([kind, cutRun(text, CHANGED_WORDS / 2, CHANGED_WORDS / 2)]);
  }
  return shown;
}

/** Stands for words that were left out. */
export const ELLIPSIS = '…';
/** In text without spaces, so many characters count as one word. */
const LETTERS_A_WORD = 16;

/** The first and last words of a text, if it has many more. */
function cutRun(text: string, first: number, last: number): string {
  const most = (first + last + 4) * LETTERS_A_WORD;
  if (text.length <= most && text.split(' ').length <= first + last + 4) return text;
  const [before, after] = [first * LETTERS_A_WORD, last * LETTERS_A_WORD];
  const start = text.slice(0, before).replace(/[\ud800-\udbff]$/, '');
  const end = after === 0 ? '' : text.slice(-after).replace(/^[\udc00-\udfff]/, '');
  const head = start.split(' ').slice(0, first);
  const tail = last === 0 ? [] : end.split(' ').slice(-last);
  return [...head, ELLIPSIS, ...tail].join(' ').trim();
}

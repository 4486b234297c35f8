/**
 * Combines the changes of a page between two runs. What the visits say at both ends decides, not the sum of the steps:
 * a change that was undone is left out. Pure: asks nobody.
 */
import { pairUp } from './compare-linked-data.ts';
import { compareContent, inOrder } from './compare-pages.ts';
import { comparable } from './query-tokens.ts';
import type {
  ChangePart,
  DiffPiece,
  KeptContent,
  KnownBy,
  PageChange,
  VisitOutcome,
} from './visit-record.ts';
import { cutPieces, diffWords, ELLIPSIS, SHOWN_OF_OUTER } from './word-diff.ts';

type Field = PageChange['fields'][number];

/** A change that one run found. */
export interface ChangeStep {
  run: number;
  change: PageChange;
}

/** The words that one run found changed. */
export interface TextStep {
  run: number;
  text: DiffPiece[] | null;
  words_added: number;
  words_removed: number;
}

export interface MergedChange extends Omit<PageChange, 'wordsAdded' | 'wordsRemoved'> {
  /** Null where words are told step by step: nobody can count them without the texts, which are long gone. */
  wordsAdded: number | null;
  wordsRemoved: number | null;
  textSteps: TextStep[];
}

/** What the last visit that read a page says about it. */
export interface PageEnd {
  status: number;
  contentHash: string | null;
  textHash: string | null;
}

interface EndVisit {
  run: number;
  outcome: VisitOutcome;
  known_by: KnownBy;
  status_code: number | null;
  content_hash: string | null;
  text_hash: string | null;
}

const NOT_MODIFIED = 304;

/** The page as it was known after a run. Null if no visit that read it is kept. `history` is oldest first. */
export function pageAfter(history: readonly EndVisit[], run: number): PageEnd | null {
  let end: PageEnd | null = null;
  for (const visit of history) {
    if (visit.run > run) break;
    const { outcome, known_by, status_code } = visit;
    const wasRead = outcome !== 'failed' && (outcome !== 'gone' || known_by === 'orphan');
    if (!wasRead || status_code === null || status_code === NOT_MODIFIED) continue;
    end = { status: status_code, contentHash: visit.content_hash, textHash: textHashAfter(end, visit) };
  }
  return end;
}

/** Equal bytes are not read for their text again. */
function textHashAfter(end: PageEnd | null, { content_hash, text_hash }: EndVisit): string | null {
  return text_hash ?? (end !== null && isSame(end.contentHash, content_hash) ? end.textHash : null);
}

/** Null if nothing is left of the changes. If an end is not known, the steps decide. */
export function mergeChanges(
  steps: readonly ChangeStep[],
  before: PageEnd | null,
  after: PageEnd | null,
): MergedChange | null {
  const told = steps.map(({ change }) => change);
  const changes = withoutDetours(told, after !== null && !isEmpty(after));
  const isTypeTold = !ledOn(told) && !(isPage(before) && isPage(after));
  const fields = mergeFields(changes, before, after).filter(({ name }) => name !== 'type' || isTypeTold);
  if (isEmpty(before) || isEmpty(after)) {
    const ofAnswer = fields.filter(({ name }) => NOT_OF_CONTENT.has(name));
    return withParts({ ...NO_LINKS, ...NO_TEXT, fields: ofAnswer, parts: [] });
  }
  if (before !== null && after !== null && isSame(before.contentHash, after.contentHash))
    return withParts({ ...NO_LINKS, ...NO_TEXT, fields, parts: [] });
  const text = hasOtherText(changes, before, after) ? mergeTexts(steps) : null;
  return withParts({
    ...mergeLinks(changes),
    ...(text ?? NO_TEXT),
    fields: [...fields, ...mergeData(changes)],
    parts: text === null ? [] : ['text'],
  });
}

/**
 * From the change that lost the content of a page to the change that brought content again, everything is one change:
 * what differs between the two. If no content came again, the last type that came is the reason of the loss.
 */
function withoutDetours(changes: readonly PageChange[], isReadInTheEnd: boolean): PageChange[] {
  const joined: PageChange[] = [];
  for (let at = 0; at < changes.length; at++) {
    const { lost } = changes[at];
    const back = lost === undefined ? -1 : backAfter(changes, at);
    if (back !== -1) {
      joined.push(compareContent(lost!, changes[back].gained!));
      at = back;
    } else if (lost !== undefined && isReadInTheEnd) {
      // No change brought content, but there is some: the type was wanted from some run on. That is no change of the
      // page.
      const next = changes.findIndex(({ parts }, i) => i > at && parts.some(isOfContent));
      const until = next === -1 ? changes.length : next;
      joined.push(compareContent(lost, documentOf(changes.slice(at, until))));
      at = until - 1;
    } else joined.push(changes[at]);
  }
  return joined;
}

const isOfContent = (part: ChangePart) => !NOT_OF_CONTENT.has(part);

/** Of the last type that they name. */
function documentOf(changes: readonly PageChange[]): KeptContent {
  const types = changes.flatMap(({ fields }) => fields).filter(({ name }) => name === 'type');
  return { ...NO_FACETS, type: types.at(-1)?.after ?? null, links: [], content: 'document' };
}

const NO_FACETS = {
  ...{ title: null, h1: null, description: null, canonical: null, structuredData: null },
  ...{ noindex: false, nofollow: false, robotsOther: '' },
};

function backAfter(changes: readonly PageChange[], at: number): number {
  const back = changes.findIndex(({ gained }, i) => i > at && gained !== undefined && hasContent(gained));
  if (back !== -1) return back;
  const last = changes.findLastIndex(({ gained }) => gained !== undefined);
  return last > at ? last : -1;
}

const hasContent = ({ content }: KeptContent) => content !== 'none';

type Links = Pick<MergedChange, 'linksAdded' | 'linksRemoved'>;
type Text = Pick<MergedChange, 'text' | 'wordsAdded' | 'wordsRemoved' | 'textSteps'>;

const NO_LINKS: Links = { linksAdded: [], linksRemoved: [] };
const NO_TEXT: Text = { text: null, wordsAdded: 0, wordsRemoved: 0, textSteps: [] };

function withParts(merged: MergedChange): MergedChange | null {
  const parts: ChangePart[] = [...merged.parts, ...merged.fields.map(({ name }) => name)];
  if (merged.linksAdded.length > 0 || merged.linksRemoved.length > 0) parts.push('links');
  return parts.length === 0 ? null : { ...merged, parts: inOrder(parts) };
}

/** Parts that are reported for a page without content. */
const NOT_OF_CONTENT: ReadonlySet<ChangePart> = new Set(['status', 'redirect', 'type']);
/** It leads elsewhere, by its status or by a refresh in the page, or its type is refused: no body is kept. */
const isEmpty = (end: PageEnd | null) =>
  end !== null && ((end.status >= 300 && end.status < 400) || end.contentHash === null);
const isPage = (end: PageEnd | null) => end !== null && end.textHash !== null;

/** It was a redirect at one of the ends: then its type is not reported, whatever it was in between. */
function ledOn(changes: readonly PageChange[]): boolean {
  const targets = changes.flatMap(({ fields }) => fields).filter(({ name }) => name === 'redirect');
  return targets.length > 0 && (targets[0].before !== null || targets.at(-1)!.after !== null);
}

const isSame = (one: string | null, other: string | null) => one !== null && one === other;

/** The first value before, the last value after. The status is that of the visits at both ends. */
function mergeFields(changes: readonly PageChange[], before: PageEnd | null, after: PageEnd | null): Field[] {
  const told = new Map<ChangePart, Field[]>();
  for (const field of changes.flatMap(({ fields }) => fields))
    if (field.name !== 'structured-data') told.set(field.name, [...(told.get(field.name) ?? []), field]);
  if (before !== null && after !== null) {
    told.delete('status');
    if (before.status !== after.status)
      told.set('status', [{ name: 'status', before: `${before.status}`, after: `${after.status}` }]);
  }
  return [...told.values()].flatMap((fields) => {
    const field = { ...fields[0], after: fields.at(-1)!.after };
    // A single step stays as it is: long values are cut, and may look equal.
    return fields.length > 1 && isSameValue(field) ? [] : [field];
  });
}

function isSameValue({ name, before, after }: Field): boolean {
  return name === 'canonical' ? comparable(before ?? '') === comparable(after ?? '') : before === after;
}

/**
 * Structured data has many values under one name. Each counts with its place, so that a value which came and went
 * cancels out.
 */
function mergeData(changes: readonly PageChange[]): Field[] {
  const ofSteps = changes
    .map(({ fields }) => fields.filter(({ name }) => name === 'structured-data'))
    .filter((fields) => fields.length > 0);
  if (ofSteps.length <= 1) return ofSteps.flat();
  const all = ofSteps.flat();
  // A step with many values does not list all, and long ones are cut: these cannot cancel out.
  const [open, whole] = [all.filter(isCut), all.filter((field) => !isCut(field))];
  const left = new Balance();
  for (const { before, after } of whole) {
    if (before !== null) left.remove(before, before);
    if (after !== null) left.add(after, after);
  }
  const differences = pairUp(left.removed, left.added);
  return [...differences.map((values): Field => ({ name: 'structured-data', ...values })), ...open];
}

const isCut = ({ before, after }: Field) => before !== null && before === after;

function mergeLinks(changes: readonly PageChange[]): Links {
  const left = new Balance();
  for (const { linksAdded, linksRemoved } of changes) {
    for (const url of linksAdded) left.add(comparable(url), url);
    for (const url of linksRemoved) left.remove(comparable(url), url);
  }
  return { linksAdded: left.added, linksRemoved: left.removed };
}

/** What came and went, minus what did both. */
class Balance {
  readonly #came = new Map<string, string[]>();
  readonly #went = new Map<string, string[]>();

  add(key: string, value: string): void {
    settle(this.#went, this.#came, key, value);
  }

  remove(key: string, value: string): void {
    settle(this.#came, this.#went, key, value);
  }

  get added(): string[] {
    return [...this.#came.values()].flat();
  }

  get removed(): string[] {
    return [...this.#went.values()].flat();
  }
}

function settle(others: Map<string, string[]>, own: Map<string, string[]>, key: string, value: string): void {
  if (others.get(key)?.pop() === undefined) own.set(key, [...(own.get(key) ?? []), value]);
}

/** By the hashes at both ends: of the main text, or of the whole body if there is no text. */
function hasOtherText(
  changes: readonly PageChange[],
  before: PageEnd | null,
  after: PageEnd | null,
): boolean {
  if (before === null || after === null) return changes.some(isOfText);
  if (before.textHash === null && after.textHash === null) return before.contentHash !== after.contentHash;
  return before.textHash !== after.textHash;
}

const isOfText = ({ parts }: PageChange) => parts.includes('text');

/** Null if all words are the same again: a hash also depends on white space. */
function mergeTexts(steps: readonly ChangeStep[]): Text | null {
  const changes = steps.map(({ change }) => change);
  const ofText = changes.filter(isOfText);
  // The text after a time without content is not reported, so the one step need not be the whole change.
  const isBroken = changes.some(({ parts, gained }) => gained !== undefined || parts.includes('redirect'));
  const isOneStep = ofText.length === 1 && !isBroken;
  const [only] = ofText;
  if (isOneStep)
    return { ...NO_TEXT, text: only.text, wordsAdded: only.wordsAdded, wordsRemoved: only.wordsRemoved };
  const composed = composeTexts(ofText.map(({ text }) => text));
  if (composed !== null) return composed.wordsAdded === 0 && composed.wordsRemoved === 0 ? null : composed;
  // Known only by its hash: nobody can count the words of texts that are not kept.
  if (ofText.length === 0) return { ...NO_TEXT, wordsAdded: null, wordsRemoved: null };
  const textSteps = steps
    .filter(({ change }) => isOfText(change))
    .map(({ run, change }) => ({
      run,
      text: change.text,
      words_added: change.wordsAdded,
      words_removed: change.wordsRemoved,
    }));
  return { text: null, wordsAdded: null, wordsRemoved: null, textSteps };
}

/**
 * The diff of the first text and the last one, if the steps contain them completely and follow each other; otherwise
 * null.
 */
function composeTexts(diffs: readonly (DiffPiece[] | null)[]): Text | null {
  const sides: [before: string, after: string][] = [];
  for (const pieces of diffs) {
    if (pieces === null || pieces.some(([, words]) => words.includes(ELLIPSIS))) return null;
    sides.push([sideOf(pieces, '-'), sideOf(pieces, '+')]);
  }
  const isWay = sides.every(([before], at) => at === 0 || isSameText(sides[at - 1][1], before));
  if (sides.length < 2 || !isWay) return null;
  const { pieces, wordsAdded, wordsRemoved } = diffWords(sides[0][0], sides.at(-1)![1], SHOWN_OF_OUTER);
  return { text: cutPieces(pieces), wordsAdded, wordsRemoved, textSteps: [] };
}

function sideOf(pieces: readonly DiffPiece[], own: '-' | '+'): string {
  return pieces
    .filter(([kind]) => kind === '=' || kind === own)
    .map(([, words]) => words)
    .join(' ');
}

/** There is a space between parts of a diff, also if the text has none. */
const isSameText = (one: string, other: string) => one.replace(/\s+/g, '') === other.replace(/\s+/g, '');

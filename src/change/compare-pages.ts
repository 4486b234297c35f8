/**
 * Says which parts of a page changed between its last visit and this one. Comes after parsing, if neither the bytes nor
 * the hashes of the content are equal. Before it: parse. After it: the settlement.
 *
 * Promises null if only the template changed: white space, tokens in the addresses of links, and the order of links or
 * of structured data are no content. Pure: asks nobody, and decides nothing else.
 */
import type { FactPart } from '../store/page-facts.ts';
import { compareLinkedData } from './compare-linked-data.ts';
import { cutValues } from './cut-values.ts';
import { withoutBreaks } from './fingerprint.ts';
import { comparable, hostOf, sharedToken } from './query-tokens.ts';
import {
  CHANGE_PARTS,
  type ChangePart,
  type ComparedPage,
  type KeptContent,
  type PageChange,
  type PastPage,
} from './visit-record.ts';
import { cutPieces, diffWords, SHOWN_OF_OUTER } from './word-diff.ts';

/** The most links that are kept of those that came or went. */
const MOST_LINKS = 500;
/** The same for a page that leads elsewhere now. */
const MOST_KEPT_LINKS = 2000;
const LONGEST_VALUE = 2000;

/** An empty change, to add to. */
export function noChange(): PageChange {
  return {
    parts: [],
    fields: [],
    linksAdded: [],
    linksRemoved: [],
    text: null,
    wordsAdded: 0,
    wordsRemoved: 0,
  };
}

/** A text that is missing on one side is not compared. Its hash says more than its absence. */
export function comparePages(past: ComparedPage, found: ComparedPage): PageChange | null {
  const change = noChange();
  const compare = (name: ChangePart, before: string | null, after: string | null) => {
    if (before === after) return;
    const [was, is] = [foldValue(before), foldValue(after)];
    if (was === is) return;
    addPart(change, name);
    change.fields.push({ name, ...cutValues(was, is, LONGEST_VALUE) });
  };
  // A failed visit may have left its status beside the content. That status says nothing about the content.
  if (isAnswerWithContent(past.statusCode))
    compare('status', textOfStatus(past.statusCode), textOfStatus(found.statusCode));
  compare('redirect', past.redirectTo, found.redirectTo);
  if (isTypeTold(past, found)) compare('type', past.type, found.type);
  // Without content, everything would be reported as gone or new. It is kept until there is content again, or at least
  // a type.
  const [hadContent, hasContent] = [past.content !== 'none', found.content !== 'none'];
  if (hadContent ? !hasContent : isRefused(past) && leadsOn(found)) change.lost = contentOf(past);
  if (hasContent ? !hadContent : leadsOn(past) && isRefused(found)) change.gained = contentOf(found);
  if (hadContent && hasContent) {
    for (const part of CONTENT_PARTS) {
      const [before, after] = [CONTENT[part](past), CONTENT[part](found)];
      if (!IS_SAME[part]?.(before, after)) compare(part, before, after);
    }
    compareLinks(change, past.links, found.links);
    compareText(change, past.text, found.text);
    const data = compareLinkedData(past.structuredData, found.structuredData);
    if (data.length > 0) {
      addPart(change, 'structured-data');
      for (const { before, after } of data) change.fields.push({ name: 'structured-data', before, after });
    }
  }
  // A type that was refused and is wanted now is no change. What was read of it is kept all the same.
  if (change.parts.length === 0) return change.gained === undefined ? null : change;
  change.parts = inOrder(change.parts);
  return change;
}

/** The reported facts of a page, by part. A part of the table of facts that is missing here does not compile. */
const CONTENT: Record<Exclude<FactPart, 'status' | 'structured-data'>, (page: PastPage) => string | null> = {
  title: ({ title }) => title,
  h1: ({ h1 }) => h1,
  description: ({ description }) => description,
  canonical: ({ canonical }) => canonical,
  robots: textOfRobots,
};
const CONTENT_PARTS = Object.keys(CONTENT) as (keyof typeof CONTENT)[];

/** Values that differ but mean the same. */
const IS_SAME: Partial<Record<ChangePart, (past: string | null, found: string | null) => boolean>> = {
  // Older versions did not split its lines, and kept the sign that links it to itself.
  h1: (past, found) => bareHeading(past) === bareHeading(found),
  canonical: (past, found) => comparable(past ?? '') === comparable(found ?? ''),
};

/**
 * What differs between the content that a page lost and the content that it gained later, as if nothing had been in
 * between.
 */
export function compareContent(lost: KeptContent, gained: KeptContent): PageChange {
  const areLinksKept = lost.links !== null && gained.links !== null;
  const pageOf = (content: KeptContent): ComparedPage => ({
    ...content,
    links: areLinksKept ? content.links! : [],
    statusCode: null,
    redirectTo: null,
    text: null,
  });
  return comparePages(pageOf(lost), pageOf(gained)) ?? noChange();
}

function contentOf(page: ComparedPage): KeptContent {
  const { statusCode: _, redirectTo: __, text: ___, links, ...content } = page;
  return { ...content, links: links.length > MOST_KEPT_LINKS ? null : links };
}

/** For two pages the content decides, and a redirect has no type of its own. */
function isTypeTold(past: ComparedPage, found: ComparedPage): boolean {
  const isPage = past.content === 'text' && found.content === 'text';
  return !isPage && !leadsOn(past) && !leadsOn(found);
}

const leadsOn = ({ redirectTo }: ComparedPage) => redirectTo !== null;
const isRefused = (page: ComparedPage) => page.content === 'none' && !leadsOn(page);

/** In the order of the list of all parts. */
export function inOrder(parts: readonly ChangePart[]): ChangePart[] {
  return CHANGE_PARTS.filter((part) => parts.includes(part));
}

function addPart(change: PageChange, name: ChangePart): void {
  if (!change.parts.includes(name)) change.parts.push(name);
}

/** White space and invisible breaks mean nothing, and an empty value counts as none. */
function foldValue(value: string | null): string | null {
  const folded = value === null ? '' : withoutBreaks(value).replace(/\s+/g, ' ').trim();
  return folded === '' ? null : folded;
}

/** Only its letters: where its lines break is no content. */
function bareHeading(heading: string | null): string {
  return heading === null ? '' : withoutBreaks(heading).replace(/[\s¶🔗]+/gu, '');
}

function isAnswerWithContent(status: number | null): boolean {
  if (status === null || status === 304) return false;
  return status < 400 || status === 404 || status === 410;
}

const textOfStatus = (status: number | null) => (status === null ? null : String(status));

function textOfRobots({ noindex, nofollow, robotsOther }: PastPage): string {
  const other = robotsOther ? `, ${robotsOther}` : '';
  return `${noindex ? 'noindex' : 'index'}, ${nofollow ? 'nofollow' : 'follow'}${other}`;
}

/**
 * Links as a set. Links that differ in tokens only are one link: if as many went as came, nothing happened. Otherwise
 * all of them are reported, because nobody knows which of them stayed.
 */
function compareLinks(change: PageChange, past: readonly string[], found: readonly string[]): void {
  if (past.length === 0 && found.length === 0) return;
  const before = new Set(past);
  const after = new Set(found);
  const removed = [...before].filter((url) => !after.has(url));
  const added = [...after].filter((url) => !before.has(url));
  if (removed.length === 0 && added.length === 0) return;
  const shared = new Map<string, string | null>();
  const keyOf = (url: string) => {
    const host = hostOf(url);
    if (!shared.has(host)) shared.set(host, sharedToken(past, found, host));
    return comparable(url, shared.get(host));
  };
  const balance = new Map<string, number>();
  const count = (url: string, by: number) => balance.set(keyOf(url), (balance.get(keyOf(url)) ?? 0) + by);
  for (const url of added) count(url, 1);
  for (const url of removed) count(url, -1);
  const isMeant = (url: string) => balance.get(keyOf(url)) !== 0;
  change.linksAdded = added.filter(isMeant).slice(0, MOST_LINKS);
  change.linksRemoved = removed.filter(isMeant).slice(0, MOST_LINKS);
  if (change.linksAdded.length > 0 || change.linksRemoved.length > 0) addPart(change, 'links');
}

function compareText(change: PageChange, past: string | null, found: string | null): void {
  if (past === null || found === null) return;
  const { pieces, wordsAdded, wordsRemoved } = diffWords(
    withoutBreaks(past),
    withoutBreaks(found),
    SHOWN_OF_OUTER,
  );
  if (wordsAdded === 0 && wordsRemoved === 0) return;
  addPart(change, 'text');
  change.text = cutPieces(pieces);
  change.wordsAdded = wordsAdded;
  change.wordsRemoved = wordsRemoved;
}

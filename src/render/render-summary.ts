/** The end of a crawl for people: the counts, the states, and which commands show more. Pure text. */

import type { LedgerLine, SummaryEvent } from '../events/events.ts';
import { COUNTING_WORDS } from '../frontier/counting-words.ts';
import { describeUrls } from './describe-urls.ts';
import { type Paint, pad, printable, showBytes, showCount, showMany, showSeconds } from './terminal-text.ts';

const OPENINGS = {
  completed: 'Completed',
  interrupted: 'Interrupted',
  failed: 'Failed',
  paused: 'Paused',
  stopped: 'Stopped',
} as const;

export interface SummaryView {
  /** The time is that of the last part only, but the pages are all: a rate would be wrong. */
  isResumed: boolean;
  /** The command that the reader types to run sumi. */
  program: string;
  /** The flag that names the store, with a space before it; empty if none is needed. */
  at: string;
  paint: Paint;
}

export function renderSummary(summary: SummaryEvent, view: SummaryView): string[] {
  const { program, at, paint } = view;
  const seconds = summary.duration_ms / 1000;
  const rate = seconds > 0 && !view.isResumed ? ` (${(summary.pages / seconds).toFixed(1)}/s)` : '';
  const colour = summary.status === 'completed' ? 'green' : 'yellow';
  return [
    `${paint(colour, OPENINGS[summary.status])} run ${summary.run} of ${printable(summary.project)}: ` +
      `${showMany(summary.pages, 'page')} in ${showSeconds(seconds)}${rate}, ` +
      `${showBytes(summary.bytes)} in ${showMany(summary.requests, 'request')}.`,
    `${describeUrls(summary)}.`,
    ...renderCounts(Object.fromEntries(Object.entries(summary.by_state).sort((a, b) => b[1] - a[1]))),
    ...renderLeftOut(summary),
    ...renderChanges(summary),
    '',
    ...renderWhereNext(summary, program, at),
  ];
}

const LEVEL_NAMES: Partial<Record<LedgerLine['level'], string>> = {
  freshness: 'still fresh',
  lastmod: 'older in the sitemap',
  '304': 'not modified',
  hash: 'the same bytes',
  text: 'the same content',
  status: 'the same answer',
};

/** Only if something could have changed: a first run has nothing to compare with. */
function renderChanges(summary: SummaryEvent): string[] {
  if (!isRevisit(summary)) return [];
  const found = (['new', 'changed', 'unchanged', 'gone', 'failed'] as const)
    .filter((outcome) => summary[outcome] > 0)
    .map((outcome) => `${showCount(summary[outcome])} ${outcome}`);
  // An orphan, or a page that is none any more, may have saved something and is not unchanged.
  const levels = summary.ledger
    .filter(({ level }) => level !== 'orphan')
    .map(({ level, pages }) => `${showCount(pages)} ${LEVEL_NAMES[level] ?? level}`);
  const requests = summary.ledger.reduce((sum, { requests_saved }) => sum + requests_saved, 0);
  const asked = requests > 0 ? ` and ${showMany(requests, 'request')}` : '';
  const saved =
    summary.bytes_saved > 0 || requests > 0 ? `; ${showBytes(summary.bytes_saved)}${asked} spared` : '';
  return [
    '',
    `Since the last visit: ${found.join(', ')} (${summary.mode}).`,
    ...(levels.length === 0 ? [] : [`  Unchanged: ${levels.join(', ')}${saved}.`]),
  ];
}

/** Known pages only: a new URL that was left out says so by its state and reason. */
function renderLeftOut({ left_out: leftOut }: SummaryEvent): string[] {
  if (leftOut === 0) return [];
  return [
    '',
    `Left out: ${showMany(leftOut, 'known page')}, not visited in this run. What is stored of them stays.`,
  ];
}

function isRevisit({ changed, unchanged, gone }: SummaryEvent): boolean {
  return changed + unchanged + gone > 0;
}

/** One line per name and number, in the given order, numbers aligned. */
export function renderCounts(counts: Readonly<Record<string, number>>): string[] {
  const entries = Object.entries(counts);
  const nameWidth = Math.max(0, ...entries.map(([name]) => name.length));
  const countWidth = Math.max(0, ...entries.map(([, n]) => showCount(n).length));
  return entries.map(([name, n]) => `  ${pad(name, nameWidth)}  ${pad(showCount(n), countWidth, 'right')}`);
}

/** The state with most URLs, of those that count as skipped. */
function skippedMostly({ by_state: byState }: SummaryEvent): string {
  return [...COUNTING_WORDS.skipped.states].sort((a, b) => (byState[b] ?? 0) - (byState[a] ?? 0))[0];
}

function renderWhereNext(summary: SummaryEvent, program: string, at: string): string[] {
  const hints: [string, string][] = [
    [`${program} pages${at}`, 'the pages'],
    [`${program} stats${at}`, 'the figures'],
    [`${program} why URL${at}`, 'what became of a URL, and which rule decided'],
  ];
  if (isRevisit(summary)) hints.splice(1, 0, [`${program} changes${at}`, 'what changed, page by page']);
  if (summary.broken > 0)
    hints.splice(1, 0, [`${program} links --broken${at}`, 'what is broken, and which pages link to it']);
  else if (summary.skipped > 0)
    hints.splice(1, 0, [
      `${program} pages --state ${skippedMostly(summary)}${at}`,
      'what was skipped, and by which rule',
    ]);
  const width = Math.max(...hints.map(([command]) => command.length));
  return hints.map(([command, about]) => `  ${pad(command, width)}   ${about}`);
}

export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The end of a crawl for people: what came of it, in which states, and where to look next. Pure text. */
import type { SummaryEvent } from './events.ts';
import { type Paint, pad, printable, showBytes, showCount, showMany, showSeconds } from './terminal-text.ts';

const OPENINGS = { completed: 'Completed', interrupted: 'Interrupted', failed: 'Failed' } as const;

export interface SummaryView {
  /** The time is that of the last part then, the pages are all: a rate would lie. */
  isResumed: boolean;
  /** What the reader types to run sumi. */
  program: string;
  /** The flag that names the store, with a space before it; empty where none is needed. */
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
    ...renderCounts(Object.fromEntries(Object.entries(summary.by_state).sort((a, b) => b[1] - a[1]))),
    '',
    ...renderWhereNext(summary, program, at),
  ];
}

/** A name and its number a line, in the order given, the numbers under each other. */
export function renderCounts(counts: Readonly<Record<string, number>>): string[] {
  const entries = Object.entries(counts);
  const nameWidth = Math.max(0, ...entries.map(([name]) => name.length));
  const countWidth = Math.max(0, ...entries.map(([, n]) => showCount(n).length));
  return entries.map(([name, n]) => `  ${pad(name, nameWidth)}  ${pad(showCount(n), countWidth, 'right')}`);
}

function renderWhereNext(summary: SummaryEvent, program: string, at: string): string[] {
  const troubled = ['DeadLink', 'Failed', 'Unreachable', 'Skipped'].find(
    (state) => summary.by_state[state] > 0,
  );
  const hints: [string, string][] = [
    [`${program} pages${at}`, 'the pages'],
    [`${program} stats${at}`, 'the figures'],
    [`${program} why URL${at}`, 'what became of a URL, and which rule decided'],
  ];
  if (troubled !== undefined)
    hints.splice(1, 0, [`${program} pages --state ${troubled}${at}`, 'what went otherwise']);
  const width = Math.max(...hints.map(([command]) => command.length));
  return hints.map(([command, about]) => `  ${pad(command, width)}   ${about}`);
}

export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

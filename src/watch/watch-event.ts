/** Events of a watch: one per page that changed, came or went, one per tick, one per delivery that failed. */
import type { DiffPiece, KnownBy, VisitOutcome } from '../change/visit-record.ts';
import type { ChangeRow } from '../store/read-side.ts';

export interface ChangeEvent {
  type: 'change';
  /** The same for every try to deliver it. */
  id: string;
  project: string;
  run: number;
  url: string;
  outcome: Extract<VisitOutcome, 'new' | 'changed' | 'gone'>;
  known_by: KnownBy;
  visited_at: string;
  status_code: number | null;
  title: string | null;
  /** What of it changed; empty for new and gone. */
  parts: readonly string[];
  fields: readonly { name: string; before: string | null; after: string | null }[];
  links_added: readonly string[];
  links_removed: readonly string[];
  words_added: number;
  words_removed: number;
  /** The words that changed, as `sumi changes` tells them (= kept, - removed, + added); null where there are none or none are kept. */
  text: readonly DiffPiece[] | null;
  /** There is more of it than an event holds: `sumi changes` has all. */
  text_cut: boolean;
}

export interface TickEvent {
  type: 'tick';
  at: string;
  project: string;
  /** Null where nothing was visited: `skipped` says why. */
  run: number | null;
  skipped: 'hours' | 'budget' | 'nothing due' | 'crawl' | null;
  status: string | null;
  /** Pages that were chosen; then the outcomes of visits, of pages that the run found, too. */
  due: number;
  new: number;
  changed: number;
  unchanged: number;
  gone: number;
  failed: number;
  bytes_saved: number;
  /** Page visits that the budget allows now. */
  budget_left: number;
}

export interface DeliveryEvent {
  type: 'delivery';
  /** `webhook https://…` or `command NAME`. */
  to: string;
  /** Of the change; null where events were dropped before they were tried. */
  id: string | null;
  url: string | null;
  error: string;
}

export type WatchEvent = ChangeEvent | TickEvent | DeliveryEvent;

/** An event goes to chats and queues: it holds so many runs of words, and so many characters of them. */
export const MOST_EVENT_RUNS = 20;
export const MOST_EVENT_CHARACTERS = 2000;

/** Stands in a stored run of words where some were left out (src/change/word-diff.ts). */
const ELLIPSIS = '…';

/** The first runs of a diff, whole words, as many as there is room for. */
export function cutForEvent(text: readonly DiffPiece[] | null): Pick<ChangeEvent, 'text' | 'text_cut'> {
  if (text === null) return { text: null, text_cut: false };
  const shown: DiffPiece[] = [];
  let left = MOST_EVENT_CHARACTERS;
  for (const [kind, words] of text) {
    if (shown.length === MOST_EVENT_RUNS || left <= 0) return { text: shown, text_cut: true };
    if (words.length > left) {
      const end = words.lastIndexOf(' ', left);
      // A character may be two halves; none is cut in two.
      const part = words.slice(0, end > 0 ? end : left).replace(/[\ud800-\udbff]$/, '');
      if (part !== '') shown.push([kind, part]);
      return { text: shown, text_cut: true };
    }
    shown.push([kind, words]);
    left -= words.length;
  }
  return { text: shown, text_cut: shown.some(([, words]) => words.includes(ELLIPSIS)) };
}

export function changeEvent(project: string, row: ChangeRow): ChangeEvent {
  const { change } = row;
  return {
    type: 'change',
    id: `${row.run}-${row.page_id}`,
    project,
    run: row.run,
    url: row.url,
    outcome: row.outcome as ChangeEvent['outcome'],
    known_by: row.known_by,
    visited_at: row.visited_at,
    status_code: row.status_code,
    title: row.title,
    parts: row.parts,
    fields: change?.fields ?? [],
    links_added: change?.linksAdded ?? [],
    links_removed: change?.linksRemoved ?? [],
    words_added: change?.wordsAdded ?? 0,
    words_removed: change?.wordsRemoved ?? 0,
    ...cutForEvent(change?.text ?? null),
  };
}

/** The store's id of its page. */
export function pageOf({ id }: ChangeEvent): number {
  return Number(id.slice(id.indexOf('-') + 1));
}

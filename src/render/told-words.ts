/** The words for a change of a page, the same in every format, and the parts of a list of changes. */
import type { TextStep } from '../change/merge-changes.ts';
import type { ToldChange, ToldOutcome } from '../change/told-change.ts';
import type { KnownBy } from '../change/visit-record.ts';
import { showBytes } from './terminal-text.ts';

const KNOWN_WORDS: Record<KnownBy, string> = {
  freshness: 'not asked: still fresh by its Cache-Control',
  lastmod: 'not asked: its date in the sitemap is older',
  '304': 'the server says not modified',
  hash: 'the same bytes',
  text: 'only the template changed',
  content: 'read',
  status: 'the same status again',
  network: 'no answer',
  orphan: 'no link and no sitemap leads there any more',
};

/** What a line says about a page, besides its URL. */
export function explainOutcome(row: ToldChange): string {
  const status = row.status_code === null ? 'no answer' : `HTTP ${row.status_code}`;
  switch (row.outcome) {
    case 'changed':
      return row.parts.join(', ');
    case 'unchanged': {
      const saved = row.bytes_saved > 0 ? `, ${showBytes(row.bytes_saved)} saved` : '';
      return `${KNOWN_WORDS[row.known_by]}${saved}`;
    }
    case 'gone':
    case 'removed':
      return row.known_by === 'orphan' ? KNOWN_WORDS.orphan : status;
    case 'failed':
      return status;
    default:
      return row.title ?? status;
  }
}

/** The heading of a list of changes. */
export interface ChangesHeading {
  /** As in "Changes of example.com, run 3". */
  title: string;
  /** When, and how it was crawled. */
  note: string;
  counts: readonly [name: ToldOutcome | 'unvisited', count: number][];
}

export interface ChangesSection {
  /** Null if the list has only one section. */
  title: string | null;
  rows: AsyncIterable<ToldChange>;
}

/** A list of changes. Sections are read one after the other, and only while they are written. */
export interface ChangesList {
  heading: ChangesHeading;
  sections: readonly ChangesSection[];
  /** There are several runs: each row names its own. */
  showsRun: boolean;
  /** For a list without rows. */
  emptyText: string;
}

/** The line above the words of a step. */
export function showStep({ run, words_added, words_removed }: TextStep): string {
  return `run ${run}: +${words_added} -${words_removed} words`;
}

export function showCounts(counts: ChangesHeading['counts']): string {
  return counts.map(([name, count]) => `${count} ${name}`).join(', ');
}

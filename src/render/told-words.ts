/** The words for a change of a page, the same in every format, and what a list of changes consists of. */
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

/** What there is to say of a page beside its URL, in a line. */
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

/** What a list of changes is about. */
export interface ChangesHeading {
  /** As in "Changes of example.com, run 3". */
  title: string;
  /** When, and how it was crawled. */
  note: string;
  counts: readonly [name: ToldOutcome | 'unvisited', count: number][];
}

export interface ChangesSection {
  /** Null where the list is one. */
  title: string | null;
  rows: AsyncIterable<ToldChange>;
}

/** A list of changes; sections are read one after the other, and only while they are written. */
export interface ChangesList {
  heading: ChangesHeading;
  sections: readonly ChangesSection[];
  /** The runs are several: each row says its own. */
  showsRun: boolean;
  /** For a list without rows. */
  emptyText: string;
}

/** Above the words of a step. */
export function showStep({ run, words_added, words_removed }: TextStep): string {
  return `run ${run}: +${words_added} -${words_removed} words`;
}

export function showCounts(counts: ChangesHeading['counts']): string {
  return counts.map(([name, count]) => `${count} ${name}`).join(', ');
}

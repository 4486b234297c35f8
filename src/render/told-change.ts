/**
 * A page's change as it is told: one row for programs (names with underscores, as in every list), and the same words for
 * people in every format. Nothing is read here, and nothing decided.
 */
import type { RunDifference } from '../change/compare-runs.ts';
import type { MergedChange, TextStep } from '../change/merge-changes.ts';
import type { ChangePart, DiffPiece, KnownBy, PageChange, VisitOutcome } from '../change/visit-record.ts';
import type { ChangeRow } from '../store/read-side.ts';
import { showBytes } from './terminal-text.ts';

export type ToldOutcome = VisitOutcome | RunDifference;

export interface ToldChange {
  url: string;
  outcome: ToldOutcome;
  known_by: KnownBy;
  parts: ChangePart[];
  fields: PageChange['fields'];
  links_added: string[];
  links_removed: string[];
  /** Runs of words: = kept, - removed, + added. */
  text: DiffPiece[] | null;
  /** Null where only the steps are known. */
  words_added: number | null;
  words_removed: number | null;
  /** Of two runs compared, where the words between them are known step by step only. */
  text_steps?: TextStep[];
  status_code: number | null;
  title: string | null;
  visited_at: string;
  run: number;
  project: string;
  last_modified: string | null;
  content_hash: string | null;
  text_hash: string | null;
  simhash_distance: number | null;
  bytes: number;
  bytes_saved: number;
  duration_ms: number | null;
}

export const TOLD_NAMES: readonly (keyof ToldChange)[] = [
  'url',
  'outcome',
  'known_by',
  'parts',
  'fields',
  'links_added',
  'links_removed',
  'text',
  'words_added',
  'words_removed',
  'status_code',
  'title',
  'visited_at',
  'run',
  'project',
  'last_modified',
  'content_hash',
  'text_hash',
  'simhash_distance',
  'bytes',
  'bytes_saved',
  'duration_ms',
];

/** Of two runs compared. */
export const COMPARED_NAMES: readonly (keyof ToldChange)[] = [...TOLD_NAMES, 'text_steps'];

/** Validators are left out on purpose: an ETag is the server's word to us, and some hold more than they should. */
export function toldChange(row: ChangeRow, project: string): ToldChange {
  const { change } = row;
  const isTemplateOnly = row.outcome === 'unchanged' && row.known_by === 'text';
  // Known by its hash alone: nobody can count the words of texts that are not kept.
  const isUncounted = row.parts.includes('text') && change !== null && change.text === null;
  return {
    url: row.url,
    outcome: row.outcome,
    known_by: row.known_by,
    parts: isTemplateOnly ? ['template'] : row.parts,
    fields: change?.fields ?? [],
    links_added: change?.linksAdded ?? [],
    links_removed: change?.linksRemoved ?? [],
    text: change?.text ?? null,
    words_added: isUncounted ? null : (change?.wordsAdded ?? 0),
    words_removed: isUncounted ? null : (change?.wordsRemoved ?? 0),
    status_code: row.status_code,
    title: row.title,
    visited_at: row.visited_at,
    run: row.run,
    project,
    last_modified: row.last_modified,
    content_hash: row.content_hash,
    text_hash: row.text_hash,
    simhash_distance: row.simhash_distance,
    bytes: row.bytes,
    bytes_saved: row.bytes_saved,
    duration_ms: row.duration_ms,
  };
}

/** `row` is the last visit that tells of the page, `merged` what all of them come to. */
export function toldDifference(
  row: ChangeRow,
  difference: ToldOutcome,
  merged: MergedChange | null,
  project: string,
): ToldChange {
  return {
    ...toldChange({ ...row, change: null }, project),
    outcome: difference,
    parts: merged?.parts ?? [],
    fields: merged?.fields ?? [],
    links_added: merged?.linksAdded ?? [],
    links_removed: merged?.linksRemoved ?? [],
    text: merged?.text ?? null,
    words_added: merged === null ? 0 : merged.wordsAdded,
    words_removed: merged === null ? 0 : merged.wordsRemoved,
    text_steps: merged?.textSteps ?? [],
  };
}

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

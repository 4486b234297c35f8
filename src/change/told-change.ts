/**
 * The change of a page as a row for programs: names with underscores, as in every list. Reads nothing and decides
 * nothing.
 */
import type { ChangeRow } from '../store/read-side.ts';
import type { RunDifference } from './compare-runs.ts';
import type { MergedChange, TextStep } from './merge-changes.ts';
import type { ChangePart, DiffPiece, KnownBy, PageChange, VisitOutcome } from './visit-record.ts';

export type ToldOutcome = VisitOutcome | RunDifference;

export interface ToldChange {
  url: string;
  outcome: ToldOutcome;
  known_by: KnownBy;
  parts: ChangePart[];
  fields: PageChange['fields'];
  links_added: string[];
  links_removed: string[];
  /** Parts of the word diff: = kept, - removed, + added. */
  text: DiffPiece[] | null;
  /** Null if only the steps are known. */
  words_added: number | null;
  words_removed: number | null;
  /** For two compared runs, if the words between them are known step by step only. */
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

/** Validators are left out on purpose: an ETag is between the server and us, and some contain private data. */
export function toldChange(row: ChangeRow, project: string): ToldChange {
  const { change } = row;
  const isTemplateOnly = row.outcome === 'unchanged' && row.known_by === 'text';
  // Known only by its hash: nobody can count the words of texts that are not kept.
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

/** `row` is the last visit that reports the page, `merged` the result of all of them. */
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

/**
 * What a page was before a run queued it again, kept beside the page until the run has an answer of its own. A run that
 * ends without asking for the page gives this back: a smaller run must not erase what a larger one found out.
 *
 * The run counts such a page as left out, and the next run finds it due as any other. A watch is different: it reads from
 * the state of its pages which hosts were silent, and says so (`marksKnown` of `closeHost`).
 *
 * Columns of `url`: known_state and known_reason are what is given back. left_run and left_reason name the last run that
 * left the page out, and why. The words here are plain SQL for both databases.
 */
import { PAGE_STATES } from '../frontier/page-state.ts';

const { Processed, DeadLink, Unreachable, RateLimited, Failed, ContentMismatch, Skipped, Gone } = PAGE_STATES;

const ANSWERS = [Processed, DeadLink, Unreachable, RateLimited, Failed, ContentMismatch, Gone].join(', ');

/** True for a row whose state is an answer, or the word of robots.txt: only these are kept. */
const isAnswered = (row: string) =>
  `(${row}state IN (${ANSWERS}) OR (${row}state = ${Skipped} AND ${row}reason LIKE 'robots: %'))`;

/**
 * Assignments of an UPDATE that queues pages, or judges them, in the run `run`: the answer is kept, and the page is not
 * one that this run left out any more. `row` is the table's prefix, as `u.`, or empty.
 */
export function keepAnswer(run: string, row = ''): string {
  const ofThisRun = `${row}left_run = ${run}`;
  return `known_state = CASE WHEN ${isAnswered(row)} THEN ${row}state ELSE ${row}known_state END,
    known_reason = CASE WHEN ${isAnswered(row)} THEN ${row}reason ELSE ${row}known_reason END,
    left_reason = CASE WHEN ${ofThisRun} THEN NULL ELSE ${row}left_reason END,
    left_run = CASE WHEN ${ofThisRun} THEN NULL ELSE ${row}left_run END`;
}

/** Assignments of an UPDATE that closes waiting pages without asking for them: known ones get back what they were. */
export function giveBackAnswer(given: { state: string; reason: string; run: string }): string {
  const { state, reason, run } = given;
  return `state = COALESCE(known_state, ${state}),
    reason = CASE WHEN known_state IS NULL THEN ${reason} ELSE known_reason END, retry_at = NULL,
    left_run = CASE WHEN known_state IS NULL THEN left_run ELSE ${run} END,
    left_reason = CASE WHEN known_state IS NULL THEN left_reason ELSE ${reason} END`;
}

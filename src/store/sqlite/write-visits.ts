/**
 * What a visit found, written: facts where something was read, else a touch of what was read before; a line of history,
 * and what changed. All of it belongs to the settlement's commit group.
 */
import type { VisitRecord } from '../../change/visit-record.ts';
import { type PackedChange, packedChange } from '../change-parts.ts';
import { FACTS, type FactName, type PageFacts, type PageTouch } from '../page-facts.ts';
import type { Settlement } from '../settlement.ts';
import { changeWord, knownByNumber, outcomeNumber } from '../visit-rows.ts';
import { type Session, writtenWithCommit } from './session.ts';

const COLUMNS = [
  'page_id',
  'run_id',
  'project_id',
  'change',
  'change_frequency',
  'changes_detected',
  ...FACTS.map(({ column }) => column),
];
const VISIT = `run_id, page_id, visited_at, outcome, known_by, status_code, etag, last_modified, content_hash, text_hash,
  simhash_distance, wire_bytes, bytes_saved, duration_ms`;

const marksFor = (columns: string) => columns.replace(/\w+/g, '?');
const NAMES = FACTS.map(({ name }) => name);
const FIRST_FACT = COLUMNS.length - FACTS.length;
const FLAGS = FACTS.flatMap(({ kind }, i) => (kind === 'flag' ? [FIRST_FACT + i] : []));

/**
 * Facts are made from NO_FACTS, so that they stand in the order of the table. Read in that order they cost half of what
 * reading them by name does, which is the way for those that do not.
 */
function fillFacts(values: unknown[], facts: PageFacts): void {
  let at = 0;
  for (const name in facts) {
    if (name !== NAMES[at]) break;
    values[FIRST_FACT + at++] = facts[name as FactName];
  }
  for (; at < NAMES.length; at++) values[FIRST_FACT + at] = facts[NAMES[at]];
  for (const flag of FLAGS) values[flag] = values[flag] ? 1 : 0;
}

interface Line {
  pageId: number;
  visit: VisitRecord;
  change: PackedChange | null;
}

export function createVisitWriter(session: Session): (settlement: Settlement) => void {
  const { db } = session;
  const columns = COLUMNS.join(', ');
  const putFacts = db.prepare(`INSERT OR REPLACE INTO fetched (${columns}) VALUES (${marksFor(columns)})`);
  /** Used again for every page. */
  const values: unknown[] = COLUMNS.map(() => null);
  const touchFacts = db.prepare(
    `UPDATE fetched SET run_id = ?, visited_at = ?, status_code = ?, error = ?, response_ms = ?,
       etag = NULLIF(COALESCE(?, etag), ''), last_modified = NULLIF(COALESCE(?, last_modified), ''),
       cache_control = NULLIF(COALESCE(?, cache_control), ''), change = COALESCE(?, change),
       change_frequency = ?, changes_detected = ? WHERE page_id = ?`,
  );
  const setChange = db.prepare(
    'UPDATE fetched SET change = @word WHERE page_id = @page AND change IS NOT @word',
  );
  // Twice in a millisecond is one visit, as the later one found it.
  const putVisit = db.prepare(`INSERT OR REPLACE INTO visit (${VISIT}) VALUES (${marksFor(VISIT)})`);
  const putChange = db.prepare('INSERT OR REPLACE INTO page_change VALUES (?, ?, ?, ?, ?)');

  function writeFacts(pageId: number, facts: PageFacts, settlement: Settlement): void {
    values[0] = pageId;
    values[1] = session.runId;
    values[2] = session.projectId;
    values[3] = settlement.visit?.outcome ?? null;
    values[4] = settlement.changeFrequency;
    values[5] = settlement.changesDetected;
    fillFacts(values, facts);
    putFacts.run(...values);
  }

  function writeTouch(pageId: number, touch: PageTouch, settlement: Settlement): void {
    touchFacts.run(
      session.runId,
      touch.visitedAt,
      touch.statusCode,
      touch.error,
      touch.responseMs,
      touch.etag,
      touch.lastModified,
      touch.cacheControl,
      changeWord(settlement),
      settlement.changeFrequency,
      settlement.changesDetected,
      pageId,
    );
  }

  function writeVisit({ pageId, visit, change }: Line): void {
    const at = Math.round(visit.visitedAt);
    putVisit.run(
      session.runId,
      pageId,
      at,
      outcomeNumber(visit.outcome),
      knownByNumber(visit.knownBy),
      visit.statusCode,
      visit.etag,
      visit.lastModified,
      visit.contentHash,
      visit.textHash,
      visit.simhashDistance,
      visit.wireBytes,
      visit.bytesSaved,
      visit.durationMs,
    );
    if (change !== null) putChange.run(session.runId, pageId, at, change.parts, change.detail);
  }

  const addLine = writtenWithCommit(session, writeVisit);

  return (settlement) => {
    const { facts, touch, visit, change } = settlement;
    const { pageId } = settlement.claim;
    if (facts !== null) writeFacts(pageId, facts, settlement);
    else if (touch !== null) writeTouch(pageId, touch, settlement);
    // Nobody was asked: all but the outcome is of the visit before.
    else if (visit !== null) setChange.run({ page: pageId, word: changeWord(settlement) });
    if (visit !== null) addLine({ pageId, visit, change: change === null ? null : packedChange(change) });
  };
}

/**
 * Who links to a page, packed per target as a JSON array of page ids in order. A page that lost a link may still stand
 * there: whoever reads looks at the page's own links. No page is missing.
 *
 * A whole build sorts by ranges of targets: one pass counts the links of each target, and each range of at most
 * EDGES_AT_ONCE links is filled by a pass of its own. Memory: four bytes a known URL, and four a link of one range. Later
 * runs add what their pages link to now. Between batches the loop of this process gets its turn.
 */
import type { Database } from 'better-sqlite3';
import type { IndexBuilt } from '../index-state.ts';
import { lastRunOf, packMark } from '../index-state.ts';
import { dropIndexMark, hasCurrentIndex, readIndexMark, runsMark, saveIndexMark } from './index-marks.ts';
import { packNumbers } from './pack-links.ts';
import type { OpenFile } from './session.ts';

const KIND = 'reverse-links';
/** 64 MB as numbers. */
const EDGES_AT_ONCE = 16 * 1024 * 1024;
const SETS_AT_ONCE = 500;
const ROWS_A_COMMIT = 5000;

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface PackedSet {
  page_id: number;
  targets: Buffer;
}

/** The numbers of a JSON array of them. */
function eachNumber(json: Buffer, hear: (value: number) => void): void {
  let value = -1;
  for (const byte of json) {
    if (byte >= 0x30 && byte <= 0x39) value = (value < 0 ? 0 : value * 10) + byte - 0x30;
    else if (value >= 0) {
      hear(value);
      value = -1;
    }
  }
}

/** The link sets of the project's pages, of those that runs after `afterRun` wrote, in the order of pages. */
async function eachSet(
  db: Database,
  projectId: number,
  afterRun: number,
  hear: (pageId: number, targets: Buffer) => void,
): Promise<void> {
  const isNewer =
    afterRun === 0
      ? ''
      : `AND (l.run_id > ${afterRun} OR EXISTS
          (SELECT 1 FROM link_change c WHERE c.page_id = l.page_id AND c.run_id > ${afterRun}))`;
  const read = db.prepare(
    `SELECT l.page_id, CAST(l.targets AS BLOB) AS targets FROM link_set l CROSS JOIN url u ON u.id = l.page_id
     WHERE l.page_id > ? AND u.project_id = ? ${isNewer} ORDER BY l.page_id LIMIT ${SETS_AT_ONCE}`,
  );
  for (let after = 0; ; ) {
    const sets = read.all(after, projectId) as PackedSet[];
    for (const { page_id, targets } of sets) hear(page_id, targets);
    if (sets.length < SETS_AT_ONCE) return;
    after = sets[sets.length - 1].page_id;
    await nextTurn();
  }
}

/** Answers null while a run of the project is under way: what it finds would be missing. */
export async function buildReverseLinks(
  file: OpenFile,
  projectId: number,
  edgesAtOnce = EDGES_AT_ONCE,
): Promise<IndexBuilt | null> {
  const { db, window } = file;
  window.commit();
  const mark = runsMark(db, projectId);
  if (mark.running > 0) return null;
  if (hasCurrentIndex(db, projectId, KIND)) return { kind: KIND, pages: 0, isWhole: false };
  const built = readIndexMark(db, projectId, KIND);
  const known = built === null ? 0 : lastRunOf(built);
  // Runs that the index knows have changed since: what they wrote cannot be told from what they had written.
  const isWhole = built === null || packMark(runsMark(db, projectId, known)) !== built;
  dropIndexMark(db, projectId, KIND);
  window.commit();
  const edges = { db, projectId, afterRun: isWhole ? 0 : known, edgesAtOnce };
  if (isWhole) await clearSets(file, projectId);
  const pages = await writeRanges(file, edges, isWhole);
  saveIndexMark(db, projectId, KIND, mark);
  window.commit();
  return { kind: KIND, pages, isWhole };
}

async function clearSets({ db, window }: OpenFile, projectId: number): Promise<void> {
  const drop = db.prepare(
    `DELETE FROM reverse_link_set WHERE page_id IN (SELECT r.page_id FROM reverse_link_set r JOIN url u ON u.id = r.page_id
       WHERE u.project_id = ? LIMIT ${ROWS_A_COMMIT})`,
  );
  while (drop.run(projectId).changes > 0) {
    window.commit();
    await nextTurn();
  }
}

interface Edges {
  db: Database;
  projectId: number;
  afterRun: number;
  edgesAtOnce: number;
}

/** How many links lead to each page. */
async function countTargets({ db, projectId, afterRun }: Edges): Promise<Int32Array> {
  const last = (db.prepare('SELECT max(id) FROM url').pluck().get() as number | null) ?? 0;
  const counts = new Int32Array(last + 2);
  await eachSet(db, projectId, afterRun, (_, targets) =>
    eachNumber(targets, (target) => {
      if (target <= last) counts[target]++;
    }),
  );
  return counts;
}

async function writeRanges(file: OpenFile, edges: Edges, isWhole: boolean): Promise<number> {
  const counts = await countTargets(edges);
  const put = createWriter(file, isWhole);
  let written = 0;
  for (let first = 0; first < counts.length; ) {
    let total = 0;
    let end = first;
    while (end < counts.length && (total === 0 || total + counts[end] <= edges.edgesAtOnce))
      total += counts[end++];
    if (total > 0) written += await writeRange(file, edges, { counts, first, end, total }, put);
    first = end;
  }
  return written;
}

interface Range {
  counts: Int32Array;
  /** Targets from `first` up to, not including, `end`. */
  first: number;
  end: number;
  total: number;
}

async function writeRange(
  { window }: OpenFile,
  { db, projectId, afterRun }: Edges,
  { counts, first, end, total }: Range,
  put: (target: number, sources: Int32Array) => void,
): Promise<number> {
  const sources = new Int32Array(total);
  // Where the next source of each target goes.
  const places = new Int32Array(end - first + 1);
  for (let target = first; target < end; target++)
    places[target - first + 1] = places[target - first] + counts[target];
  const ends = places.slice(1);
  await eachSet(db, projectId, afterRun, (pageId, targets) =>
    eachNumber(targets, (target) => {
      const at = target - first;
      // A run that began meanwhile may have found more: then the mark will not fit, and the index is none.
      if (at >= 0 && target < end && places[at] < ends[at]) sources[places[at]++] = pageId;
    }),
  );
  let written = 0;
  for (let target = first, from = 0; target < end; target++) {
    const count = counts[target];
    if (count === 0) continue;
    put(target, sources.subarray(from, from + count));
    from += count;
    if (++written % ROWS_A_COMMIT === 0) {
      window.commit();
      await nextTurn();
    }
  }
  window.commit();
  return written;
}

function createWriter({ db }: OpenFile, isWhole: boolean): (target: number, sources: Int32Array) => void {
  const write = db.prepare('INSERT OR REPLACE INTO reverse_link_set VALUES (?, CAST(? AS TEXT))');
  if (isWhole) return (target, sources) => void write.run(target, packNumbers(sources, sources.length));
  const read = db.prepare('SELECT sources FROM reverse_link_set WHERE page_id = ?').pluck();
  return (target, added) => {
    const known = read.get(target) as string | undefined;
    const merged = Int32Array.from(
      new Set([...(known === undefined ? [] : (JSON.parse(known) as number[])), ...added]),
    );
    merged.sort();
    write.run(target, packNumbers(merged, merged.length));
  };
}

/** The pages that may link to this one, in order, none missing; null where only the link sets themselves know. */
export function reverseSourcesOf(db: Database, pageId: number): number[] | null {
  const projectId = db.prepare('SELECT project_id FROM url WHERE id = ?').pluck().get(pageId);
  if (projectId === undefined || !hasCurrentIndex(db, projectId as number, KIND)) return null;
  const packed = db.prepare('SELECT sources FROM reverse_link_set WHERE page_id = ?').pluck().get(pageId);
  return packed === undefined ? [] : (JSON.parse(packed as string) as number[]);
}

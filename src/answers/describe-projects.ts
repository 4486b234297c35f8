/**
 * Projects as programs see them. Of many projects the engine and the schedules are each asked once. Counts of pages are bounded,
 * and kept for as long as the crawl of the project stands as it did.
 */
import { readSettings } from '../config/project-settings.ts';
import { type WireLimits, writeWireSettings } from '../config/wire-settings.ts';
import type { Project } from '../contract/projects.ts';
import { CRAWLED_PAGES_STATUS } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';
import { readCounts } from '../running/counts.ts';
import type { Phase } from '../running/phase.ts';
import { pendingPhase, storedPhase } from '../running/phase-of-run.ts';
import { readRunNote } from '../running/run-notes.ts';
import type { PageListFilter } from '../store/list-queries.ts';
import type { ProjectRow } from '../store/read-side.ts';
import { isCrawl } from '../store/unfinished-run.ts';
import type { Answering } from './answering.ts';
import { describeRuns } from './read-runs.ts';

export interface ProjectDescriber {
  one(row: ProjectRow): Promise<Project>;
  many(rows: readonly ProjectRow[]): Promise<Project[]>;
}

type Counts = Project['counts'];

export interface DescriberParts extends Pick<Answering, 'side' | 'engine' | 'records' | 'storeLabel'> {
  clock: { now(): number };
}

/** While a crawl is under way its counts are this old at most; after it somebody else may have written. */
const COUNTS_MS = { underWay: 2_000, atRest: 600_000 };
const MOST_KEPT = 10_000;
/** Questions at once: others want answers as well. */
const AT_ONCE = 4;

export function createProjectDescriber(
  parts: DescriberParts,
  limits: Pick<WireLimits, 'maxPagesLimit'>,
): ProjectDescriber {
  const { side, engine, records, clock } = parts;
  const kept = new Map<string, { standing: string; until: number; counts: Counts }>();

  async function countsOf({ uid, project }: ProjectRow, { run, state }: Phase): Promise<Counts> {
    const standing = `${run} ${state}`;
    const known = kept.get(uid);
    if (known?.standing === standing && clock.now() < known.until) return known.counts;
    const bounded = await countPages(parts, project);
    const counts = bounded.is_exact ? bounded : await countsAtEnd(records, uid, run, bounded);
    const keptMs = state === 'running' ? COUNTS_MS.underWay : COUNTS_MS.atRest;
    kept.delete(uid);
    kept.set(uid, { standing, until: clock.now() + keptMs, counts });
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value as string);
    return counts;
  }

  async function describe(row: ProjectRow, phase: Phase, nextRunAt: string | null): Promise<Project> {
    const last = await side.lastRun(row.id);
    const runs = last === null ? [] : await describeRuns(parts, [row], [last], clock.now());
    const settings = readSettings(await side.projectSettings(row.project));
    return {
      ...{ id: row.uid, name: row.project, website_url: row.website_url },
      settings: writeWireSettings(settings, limits),
      phase,
      last_run: runs[0] ?? null,
      next_run_at: nextRunAt,
      counts: await countsOf(row, phase),
      ...{ created_at: row.created_at, updated_at: row.updated_at, deleted_at: row.deleted_at },
    };
  }

  /** For the engine a deleted project is no longer there: it stands as its last run left it. */
  async function phaseAtRest({ id, uid }: ProjectRow): Promise<Phase> {
    const run = await side.lastRun(id);
    if (run === null || !isCrawl(run)) return pendingPhase(uid);
    const note = await readRunNote(records, uid, run.run);
    return storedPhase({ projectUid: uid, run, note, workers: 0, isTaken: false });
  }

  async function many(rows: readonly ProjectRow[]): Promise<Project[]> {
    const ids = rows.filter(({ deleted_at }) => deleted_at === null).map(({ uid }) => uid);
    const [phases, next] = await Promise.all([engine.runs.phases(ids), engine.schedules.next(ids)]);
    const standing = new Map(ids.map((uid, place) => [uid, { phase: phases[place], next: next[place] }]));
    const described: Project[] = [];
    for (let from = 0; from < rows.length; from += AT_ONCE) {
      const some = rows.slice(from, from + AT_ONCE).map(async (row) => {
        const known = standing.get(row.uid);
        return await describe(row, known?.phase ?? (await phaseAtRest(row)), known?.next ?? null);
      });
      described.push(...(await Promise.all(some)));
    }
    return described;
  }

  return { many, one: async (row) => (await many([row]))[0] };
}

/** Of a project with more pages than one call may look at: as its last run counted them, while that still holds. */
async function countsAtEnd(
  records: DescriberParts['records'],
  uid: string,
  run: number | null,
  bounded: Counts,
): Promise<Counts> {
  const kept = await readCounts(records, uid);
  if (kept === null || kept.of_run !== run) return bounded;
  const counts: Counts = {
    pages: kept.known_urls,
    success: 0,
    failed: 0,
    skipped: 0,
    waiting: kept.waiting,
    is_exact: true,
  };
  for (const [state, pages] of Object.entries(kept.by_state)) {
    const status = CRAWLED_PAGES_STATUS[state as PageState];
    if (status !== null) counts[status] += pages;
  }
  return counts;
}

async function countPages({ side }: Pick<Answering, 'side'>, project: string): Promise<Counts> {
  const count = (filter: PageListFilter) => side.count('pages', { project, ...filter });
  const pages = await count({});
  if (pages.count === 0)
    return { pages: 0, success: 0, failed: 0, skipped: 0, waiting: 0, is_exact: pages.isExact };
  const success = await count({ statuses: ['success'] });
  const failed = await count({ statuses: ['failed'] });
  const skipped = await count({ statuses: ['skipped'] });
  const queued = await count({ states: ['Queued', 'Fetching'] });
  const all = [pages, success, failed, skipped, queued];
  return {
    ...{ pages: pages.count, success: success.count, failed: failed.count, skipped: skipped.count },
    waiting: queued.count,
    is_exact: all.every(({ isExact }) => isExact),
  };
}

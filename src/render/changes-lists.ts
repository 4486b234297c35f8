/** Changes, the history of a page and the differences of two runs as lists with a heading and sections, for people. */
import { RUN_DIFFERENCES, type RunDifference } from '../change/compare-runs.ts';
import type { ToldChange } from '../change/told-change.ts';
import type { VisitOutcome } from '../change/visit-record.ts';
import type { Differences } from '../project/compare-two-runs.ts';
import type { Changes, PageHistory } from '../project/list-changes.ts';
import type { RunRow } from '../store/read-side.ts';
import { describeChanges } from './describe-changes.ts';
import { showCount, showMany } from './terminal-text.ts';
import type { ChangesHeading, ChangesList } from './told-words.ts';

/** A watch has hundreds a day. */
const SHOWN_RUNS = 3;

const SECTION_TITLES: Record<VisitOutcome, string> = {
  changed: 'Changed',
  new: 'New',
  gone: 'Gone',
  unchanged: 'Unchanged',
  failed: 'Not read',
};

export function changesList(changes: Changes): ChangesList {
  const { outcomes, runs } = changes;
  const heading = headingOf(changes);
  return {
    heading,
    sections: outcomes.map((outcome) => ({ title: SECTION_TITLES[outcome], rows: changes.rows([outcome]) })),
    showsRun: runs.length > 1,
    emptyText: emptyTextOf(changes, heading),
  };
}

function headingOf(changes: Changes): ChangesHeading {
  const { project, runs, look, takenBack } = changes;
  const last = runs.at(-1);
  const which =
    last === undefined
      ? 'no run'
      : runs.length === 1
        ? `run ${last.run}`
        : `runs ${runs[0].run} to ${last.run}`;
  const isFirstLook = look !== null && look.last === null;
  const none = isFirstLook ? 'no other run was made' : 'nothing was crawled since';
  const notes = [last === undefined ? none : describeRuns(runs)];
  if (isFirstLook) notes.push('first look: the last 24 hours, without the first crawl');
  if (takenBack > 0) notes.push(`${showMany(takenBack, 'page')} changed and changed back`);
  return {
    title: `Changes of ${project.project}, ${sinceText(changes)}${which}`,
    note: notes.join('; '),
    counts: countsOf(changes),
  };
}

function countsOf({ counts, outcomes, isNet }: Changes): ChangesHeading['counts'] {
  if (counts === null) return [];
  const asked = outcomes.map((outcome): [VisitOutcome, number] => [outcome, counts.get(outcome) ?? 0]);
  // A run counts all its visits, also those that were not asked for.
  return isNet ? asked : [...new Map([...asked, ...counts])];
}

function sinceText({ sinceMs, look }: Changes): string {
  const minute = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`;
  if (look !== null && look.last !== null)
    return `since the last look of ${look.reader} at ${minute(look.last.at)}, `;
  return sinceMs === null ? '' : `since ${minute(sinceMs)}, `;
}

/** For a list without rows: nothing changed, nothing could be read, or nothing is known any more. */
function emptyTextOf({ runs, sinceMs }: Changes, { counts }: ChangesHeading): string {
  const isCounted = runs.length > 0 && sinceMs === null;
  if (!isCounted) return 'Nothing changed.';
  const seen = counts.filter(([, count]) => count > 0).map(([outcome]) => outcome);
  if (seen.includes('failed')) return 'Nothing changed, as far as pages could be read.';
  if (seen.length > 0) return 'Nothing changed.';
  if (runs.some(({ pages }) => pages > 0)) return 'No visits are kept: their history was cleared.';
  const error = runs.at(-1)!.error;
  return `No page was read${error === null ? '' : `: ${error}`}.`;
}

function describeRuns(runs: readonly RunRow[]): string {
  const earlier = runs.length - SHOWN_RUNS;
  return [
    ...(earlier > 0 ? [`${showCount(earlier)} earlier`] : []),
    ...runs.slice(-SHOWN_RUNS).map(describeRun),
  ].join('; ');
}

function describeRun({ run, status, started_at, mode, mode_reason }: RunRow): string {
  // If the user selected the mode, the reason says no more than that.
  const reason = mode_reason === null || mode_reason === `mode ${mode}` ? '' : ` (${mode_reason})`;
  const how = mode === null ? '' : `, ${mode}${reason}`;
  return `run ${run} ${status}, begun ${started_at.slice(0, 19)}Z${how}`;
}

export function historyList({ page, rows }: PageHistory): ChangesList {
  return {
    heading: {
      title: `Visits of ${page.url}`,
      note: `${page.state}${page.title === null ? '' : `: ${page.title}`}; ${describeChanges(page)}`,
      counts: [],
    },
    sections: [{ title: null, rows: withoutTitles(rows()) }],
    showsRun: true,
    emptyText: 'No visit of it is kept.',
  };
}

/** The known title is the last one. Beside older visits it would be wrong. */
async function* withoutTitles(rows: AsyncIterable<ToldChange>): AsyncGenerator<ToldChange> {
  for await (const row of rows) yield { ...row, title: null };
}

const DIFFERENCE_TITLES: Record<RunDifference, string> = {
  changed: 'Changed',
  added: 'Added',
  removed: 'Removed',
  failed: 'Not read',
};

export function differencesList({ first, second, counts, rows }: Differences): ChangesList {
  const when = (run: RunRow) => `run ${run.run} (${run.status}, begun ${run.started_at.slice(0, 19)}Z)`;
  return {
    heading: {
      title: `${first.project}: run ${first.run} and run ${second.run}`,
      note: `From ${when(first)} to ${when(second)}`,
      counts: (['added', 'removed', 'changed', 'failed', 'unchanged', 'unvisited'] as const).map((name) => [
        name,
        counts[name],
      ]),
    },
    sections: RUN_DIFFERENCES.map((difference) => ({
      title: DIFFERENCE_TITLES[difference],
      rows: rows([difference]),
    })),
    showsRun: false,
    emptyText: noDifference(first, counts),
  };
}

function noDifference({ run, pages }: RunRow, { unchanged, unvisited }: Differences['counts']): string {
  if (unvisited > 0) return `Nothing differs in what was visited after run ${run}.`;
  return unchanged === 0 && pages > 0 ? 'No visits are kept: their history was cleared.' : 'Nothing differs.';
}

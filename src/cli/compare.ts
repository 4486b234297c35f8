/** `sumi compare RUN RUN`: the pages of a project after one run and after another, from their history. */
import { Command } from 'commander';
import {
  compareRuns,
  type PageDifference,
  RUN_DIFFERENCES,
  type RunComparison,
  type RunDifference,
} from '../change/compare-runs.ts';
import { mergeChanges, pageAfter } from '../change/merge-changes.ts';
import type { VisitOutcome } from '../change/visit-record.ts';
import { sumiError } from '../errors.ts';
import {
  type ChangesList,
  COMPARED_NAMES,
  type ToldChange,
  toldChange,
  toldDifference,
} from '../render/told-change.ts';
import type { ChangeRow, ProjectRow, ReadSide, RunRow } from '../store/read-side.ts';
import { findRun, projectOf } from './choose-runs.ts';
import { addOptionFlags } from './options-to-flags.ts';
import { withReadSide } from './read-command.ts';
import { addOutputFlags, type ChangeFormat, outputOf, writeChanges } from './write-changes.ts';

const EXAMPLES = `
Examples:
  sumi compare 1 4                          what became of the pages between the two runs
  sumi compare 1 4 --format json            one object a page that was added, removed or changed, or failed
  sumi compare 1 4 --out difference.html    a page to look at; .md for an issue, .csv for a table
A page that changed and changed back counts as unchanged. docs/changes.md
explains the words.`;

interface CompareFlags {
  format?: ChangeFormat;
  out?: string;
}

export function compareCommand(): Command {
  const command = new Command('compare')
    .description('compare two runs of a project: pages added, removed, changed')
    .argument('<run>', 'the number of a run')
    .argument('<run>', 'the number of another run');
  addOutputFlags(command).option('--limit <N>', 'print at most so many rows (default: all)');
  addOptionFlags(command, ['db', 'store', 'config', 'project']);
  return command.addHelpText('after', EXAMPLES).action((one: string, other: string, flags: CompareFlags) =>
    withReadSide(
      command,
      async (reading) => {
        const { side, limit } = reading;
        const output = outputOf(flags, reading.config, command);
        const given = [
          await findRun(reading, one, 'sumi compare'),
          await findRun(reading, other, 'sumi compare'),
        ];
        const [first, second] = given.sort((a, b) => a.run - b.run);
        refuseOddPair(first, second);
        const project = await projectOf(side, first.project);
        await tellCleared(side, first);
        const found = await compareRuns(side.visitsAfter(project.id, 0), first.run, second.run);
        const told = await tellDifferences(side, project, [first, second], found);
        await writeChanges(
          {
            rows: () => firstOf(told.rows(RUN_DIFFERENCES), limit),
            names: COMPARED_NAMES,
            list: () => listOf([first, second], told, limit),
            summary: { project: project.project, runs: [first.run, second.run], ...told.counts },
          },
          output,
        );
      },
      ['format'],
    ),
  );
}

/** Without its visits nobody knows what the pages were then: later ones stand for them, as far as they go. */
async function tellCleared(side: ReadSide, { run, pages }: RunRow): Promise<void> {
  if (pages === 0 || (await side.ledger(run)).length > 0) return;
  process.stderr.write(
    `The history of run ${run} was cleared (sumi forget, --keep-history): what changed, came or went since is told as far as later visits know it.\n`,
  );
}

function refuseOddPair(first: RunRow, second: RunRow): void {
  const reason =
    first.run === second.run
      ? `run ${first.run} is given twice; expected two runs`
      : `run ${first.run} is of the project "${first.project}", run ${second.run} of "${second.project}"; expected two runs of one project`;
  if (first.run === second.run || first.project !== second.project)
    throw sumiError('usage', { reason, command: 'sumi compare' });
}

interface ToldDifferences {
  rows: (wanted: readonly RunDifference[]) => AsyncGenerator<ToldChange>;
  counts: Record<RunDifference | 'unchanged' | 'unvisited', number>;
}

/** Reads the details of the pages that differ one by one: however many they are, one is held at a time. */
async function tellDifferences(
  side: ReadSide,
  project: ProjectRow,
  [first, second]: [RunRow, RunRow],
  { differences, unchanged, unvisited }: RunComparison,
): Promise<ToldDifferences> {
  async function rowsOf(pageId: number, outcomes: readonly VisitOutcome[]): Promise<ChangeRow[]> {
    const rows: ChangeRow[] = [];
    const [fromRun, toRun] = [first.run + 1, second.run];
    for await (const row of side.changes({ fromRun, toRun, projectId: project.id, pageId, outcomes }))
      rows.push(row);
    return rows;
  }
  /** Null when nothing is left of its changes. */
  async function tellPage({ pageId, difference, steps }: PageDifference): Promise<ToldChange | null> {
    const rows = await rowsOf(pageId, TOLD_BY[difference]);
    const last = rows.at(-1);
    if (last === undefined) return null;
    // Of a page that came, went or failed, all that was in between says nothing.
    if (difference !== 'changed') return toldDifference(last, difference, null, project.project);
    // What it lost may have been read as something else since: then more than its type differs.
    if (steps === 1 && last.outcome === 'changed' && last.change?.lost === undefined)
      return { ...toldChange(last, project.project), text_steps: [] };
    const history = await side.visits(pageId);
    // What came later where nothing changed: of a type that was refused at first.
    const isLost = rows.some(({ change }) => change?.lost !== undefined);
    const all = isLost ? await rowsOf(pageId, [...TOLD_BY.changed, 'unchanged']) : rows;
    const changes = all.flatMap(({ run, change }) => (change === null ? [] : [{ run, change }]));
    const merged = mergeChanges(changes, pageAfter(history, first.run), pageAfter(history, second.run));
    return merged === null ? null : toldDifference(last, difference, merged, project.project);
  }
  async function* rows(wanted: readonly RunDifference[]): AsyncGenerator<ToldChange> {
    for (const page of differences) {
      const told = wanted.includes(page.difference) ? await tellPage(page) : null;
      if (told !== null) yield told;
    }
  }
  const counts = { changed: 0, added: 0, removed: 0, failed: 0, unchanged, unvisited };
  for (const page of differences) {
    // Whether a change was taken back shows only when several are put together.
    const isOpen = page.difference === 'changed' && page.steps > 1;
    counts[isOpen && (await tellPage(page)) === null ? 'unchanged' : page.difference]++;
  }
  return { rows, counts };
}

/** The visits that tell of a page. */
const TOLD_BY: Record<RunDifference, readonly VisitOutcome[]> = {
  changed: ['changed', 'gone'],
  added: ['new', 'changed'],
  removed: ['gone'],
  failed: ['failed'],
};

const TITLES: Record<RunDifference, string> = {
  changed: 'Changed',
  added: 'Added',
  removed: 'Removed',
  failed: 'Not read',
};

function listOf(
  [first, second]: [RunRow, RunRow],
  { rows, counts }: ToldDifferences,
  limit: number | undefined,
): ChangesList {
  let left = limit ?? Number.POSITIVE_INFINITY;
  async function* limited(difference: RunDifference): AsyncGenerator<ToldChange> {
    if (left <= 0) return;
    for await (const row of rows([difference])) {
      yield row;
      if (--left <= 0) return;
    }
  }
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
      title: TITLES[difference],
      rows: limited(difference),
    })),
    showsRun: false,
    emptyText: emptyText(first, counts),
  };
}

function emptyText({ run, pages }: RunRow, { unchanged, unvisited }: ToldDifferences['counts']): string {
  if (unvisited > 0) return `Nothing differs in what was visited after run ${run}.`;
  return unchanged === 0 && pages > 0 ? 'No visits are kept: their history was cleared.' : 'Nothing differs.';
}

async function* firstOf<Row>(rows: AsyncIterable<Row>, limit: number | undefined): AsyncGenerator<Row> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  for await (const row of rows) {
    yield row;
    if (--left <= 0) return;
  }
}

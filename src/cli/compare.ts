/** `sumi compare RUN RUN`: the pages of a project after one run and after another, from their history. */
import { Command } from 'commander';
import { compareRuns, type RunComparison, type RunDifference } from '../change/compare-runs.ts';
import { mergeChanges } from '../change/merge-changes.ts';
import { sumiError } from '../errors.ts';
import { type ChangesList, type ToldChange, toldChange } from '../report/told-change.ts';
import type { ChangeRow, ProjectRow, ReadSide, RunRow } from '../store/read-side.ts';
import { findRun, projectOf } from './choose-runs.ts';
import { addOptionFlags } from './options-to-flags.ts';
import { withReadSide } from './read-command.ts';
import { addOutputFlags, type ChangeFormat, outputOf, writeChanges } from './write-changes.ts';

const EXAMPLES = `
Examples:
  sumi compare 1 4                          what became of the pages between the two runs
  sumi compare 1 4 --format json            one object a page that was added, removed or changed
  sumi compare 1 4 --out difference.html    a page to look at; .md for an issue, .csv for a table
A page that was changed and changed back is unchanged, as far as its values tell. docs/changes.md explains the words.`;

interface CompareFlags {
  format?: ChangeFormat;
  out?: string;
}

export function compareCommand(): Command {
  const command = new Command('compare')
    .description('compare two runs of a project: pages added, removed, changed')
    .argument('<run>', 'the number of a run')
    .argument('<run>', 'the number of another');
  addOutputFlags(command).option('--limit <N>', 'at most so many rows');
  addOptionFlags(command, ['db', 'store', 'config', 'project']);
  return command.addHelpText('after', EXAMPLES).action((one: string, other: string, flags: CompareFlags) =>
    withReadSide(
      command,
      async (reading) => {
        const { side, limit } = reading;
        const given = [
          await findRun(reading, one, 'sumi compare'),
          await findRun(reading, other, 'sumi compare'),
        ];
        const [first, second] = given.sort((a, b) => a.run - b.run);
        refuseOddPair(first, second);
        const project = await projectOf(side, first.project);
        const found = await compareRuns(side.visitsAfter(project.id, 0), first.run, second.run);
        const told = await tellDifferences(side, project, [first, second], found);
        await writeChanges(
          {
            rows: () => firstOf(told.rows(['added', 'removed', 'changed']), limit),
            list: () => listOf([first, second], told, limit),
            summary: { project: project.project, runs: [first.run, second.run], ...told.counts },
          },
          outputOf(flags, reading.config),
        );
      },
      ['format'],
    ),
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
  counts: Record<RunDifference | 'unchanged', number>;
}

/** Reads the details of the pages that differ one by one: however many they are, one is held at a time. */
async function tellDifferences(
  side: ReadSide,
  project: ProjectRow,
  [first, second]: [RunRow, RunRow],
  { differences, unchanged }: RunComparison,
): Promise<ToldDifferences> {
  async function rowsOf(pageId: number): Promise<ChangeRow[]> {
    const rows: ChangeRow[] = [];
    const [fromRun, toRun] = [first.run + 1, second.run];
    for await (const row of side.changes({ fromRun, toRun, projectId: project.id, pageId })) rows.push(row);
    return rows;
  }
  async function* rows(wanted: readonly RunDifference[]): AsyncGenerator<ToldChange> {
    for (const { pageId, difference } of differences) {
      if (!wanted.includes(difference)) continue;
      const told = tellPage(await rowsOf(pageId), difference, project.project);
      if (told !== null) yield told;
    }
  }
  const counts = { added: 0, removed: 0, changed: 0, unchanged };
  for (const { pageId, difference, changes } of differences) {
    // Whether a change was taken back shows only when several are put together.
    const isOpen = difference === 'changed' && changes > 1;
    const isBack = isOpen && tellPage(await rowsOf(pageId), difference, '') === null;
    counts[isBack ? 'unchanged' : difference]++;
  }
  return { rows, counts };
}

/** Null when nothing is left of its changes. */
function tellPage(rows: readonly ChangeRow[], difference: RunDifference, project: string): ToldChange | null {
  const last = rows.at(-1);
  if (last === undefined) return null;
  const details = rows.flatMap(({ change }) => (change === null ? [] : [change]));
  // Of a page that came or went, all that was in between says nothing.
  const merged = difference === 'changed' && details.length > 0 ? mergeChanges(details) : null;
  if (difference === 'changed' && details.length > 0 && merged === null) return null;
  const parts = merged?.parts ?? (difference === 'changed' ? last.parts : []);
  return { ...toldChange({ ...last, parts, change: merged }, project), outcome: difference };
}

const TITLES: [RunDifference, string][] = [
  ['changed', 'Changed'],
  ['added', 'Added'],
  ['removed', 'Removed'],
];

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
      counts: [
        ['added', counts.added],
        ['removed', counts.removed],
        ['changed', counts.changed],
        ['unchanged', counts.unchanged],
      ],
    },
    sections: TITLES.map(([difference, title]) => ({ title, rows: limited(difference) })),
    showsRun: false,
    emptyText: 'Nothing differs.',
  };
}

async function* firstOf<Row>(rows: AsyncIterable<Row>, limit: number | undefined): AsyncGenerator<Row> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (left <= 0) return;
  for await (const row of rows) {
    yield row;
    if (--left <= 0) return;
  }
}

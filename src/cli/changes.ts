/**
 * `sumi changes`: what the last run found changed, new and gone, or any other run, or all since one; with a URL the
 * whole history of a page. It reads what visits noted and compares nothing itself.
 */
import { Command } from 'commander';
import { VISIT_OUTCOMES, type VisitOutcome } from '../change/visit-record.ts';
import { sumiError } from '../errors.ts';
import { requirePages } from '../project/find-pages.ts';
import { describeChanges } from '../render/describe-changes.ts';
import { showCount, showMany } from '../render/terminal-text.ts';
import {
  type ChangesHeading,
  type ChangesList,
  COMPARED_NAMES,
  TOLD_NAMES,
  type ToldChange,
  toldChange,
} from '../render/told-change.ts';
import type { PageRow, ReadSide, RunRow } from '../store/read-side.ts';
import { type ChosenRuns, chooseRuns, isRunNumber, projectOf, type RunFlags } from './choose-runs.ts';
import { keepLook, type SeenLook, tell } from './keep-look.ts';
import { CHANGE_OUTCOMES, type NetChanges, readNetChanges } from './net-changes.ts';
import { addOptionFlags } from './options-to-flags.ts';
import { type Reading, withReadSide } from './read-command.ts';
import {
  addOutputFlags,
  type ChangeFormat,
  outputOf,
  type TellableChanges,
  writeChanges,
} from './write-changes.ts';

/** A watch has hundreds a day. */
const SHOWN_RUNS = 3;

const EXAMPLES = `
Examples:
  sumi changes                                  what the last run found; in a watched project: what changed since you last looked
  sumi changes --since 1d                              since a time; also --since 2026-02-03, --since 3 (after run 3)
  sumi changes --reader mail --out changes.html        since this reader last looked, whoever else did
  sumi changes https://example.com/prices              all visits of a page, and what each found
  sumi changes --format json | jq '.[] | .url'         one object a page; unchanged pages too with --all
  sumi changes --out changes.html                      a page to look at; .md for an issue, .csv for a table
How change is detected, and what the words mean: docs/changes.md.`;

interface ChangesFlags extends RunFlags {
  all?: boolean;
  format?: ChangeFormat;
  out?: string;
  steps?: boolean;
  /** False with --no-mark. */
  mark: boolean;
}

export function changesCommand(): Command {
  const command = new Command('changes')
    .description('show what changed: new, changed and gone pages')
    .argument('[url]', 'a page, for its whole history');
  addOutputFlags(command)
    .option('--since <RUN|DATE>', 'all runs after this one, or all visits since a time: 1d, 2026-02-03')
    .option('--run <ID>', 'the number of a run (default: the last)')
    .option(
      '--reader <NAME>',
      'what changed since this reader last looked (default in a watched project: the user)',
    )
    .option('--no-mark', 'do not count this as a look: the next one begins where the last one did')
    .option('--steps', 'several runs: what each run found')
    .option('--all', 'also pages that did not change or could not be read')
    .option('--limit <N>', 'print at most so many rows (default: all)');
  addOptionFlags(command, ['db', 'store', 'config', 'project']);
  return command
    .addHelpText('after', EXAMPLES)
    .action(async (url: string | undefined, flags: ChangesFlags) => {
      let seen: SeenLook | null = null as SeenLook | null;
      await withReadSide(
        command,
        async (reading) => {
          const output = outputOf(flags, reading.config, command);
          if (url !== undefined) return writeChanges(await historyOf(reading, url, flags), output);
          const told = await changesOfRuns(reading, flags);
          await writeChanges(told.changes, output);
          if (flags.mark) seen = told.seen();
        },
        ['format'],
      );
      if (seen !== null) await keepLook(seen);
    });
}

const SECTION_TITLES: Record<VisitOutcome, string> = {
  changed: 'Changed',
  new: 'New',
  gone: 'Gone',
  unchanged: 'Unchanged',
  failed: 'Not read',
};

interface ToldOfRuns {
  changes: TellableChanges;
  /** Asked when all is told: what the reader has seen now; null where no look was asked for, or the list was cut. */
  seen: () => SeenLook | null;
}

async function changesOfRuns(reading: Reading, flags: ChangesFlags): Promise<ToldOfRuns> {
  const { side, limit, config } = reading;
  const chosen = await chooseRuns(reading, flags, false, Date.now());
  const { project, runs, sinceMs, look } = chosen;
  const outcomes: readonly VisitOutcome[] = flags.all
    ? [...CHANGE_OUTCOMES, 'unchanged', 'failed']
    : CHANGE_OUTCOMES;
  const isNet = !flags.steps && runs.length > 0 && (runs.length > 1 || sinceMs !== null);
  const window = { project, fromRun: runs[0]?.run ?? 0, toRun: runs.at(-1)?.run ?? 0, sinceMs };
  const net = isNet ? await readNetChanges(side, window, flags.all === true) : null;
  const heading = await headingOf(side, chosen, outcomes, net);
  const left = { rows: limit ?? Number.POSITIVE_INFINITY };
  const rows = (wanted: readonly VisitOutcome[]) =>
    net === null ? rowsOf(side, chosen, wanted, left) : firstOf(net.rows(wanted), left);
  return {
    changes: {
      rows: () => rows(outcomes),
      names: net === null ? TOLD_NAMES : COMPARED_NAMES,
      list: (): ChangesList => ({
        heading,
        sections: outcomes.map((outcome) => ({ title: SECTION_TITLES[outcome], rows: rows([outcome]) })),
        showsRun: runs.length > 1,
        emptyText: emptyTextOf(chosen, heading),
      }),
    },
    seen: () => {
      if (look === undefined) return null;
      const isCut = left.rows <= 0;
      if (isCut) tell('--limit may have cut the list, so the next look begins where this one did.');
      return isCut ? null : { config, project: project.project, ...look };
    },
  };
}

async function* firstOf(rows: AsyncIterable<ToldChange>, left: { rows: number }): AsyncGenerator<ToldChange> {
  if (left.rows <= 0) return;
  for await (const row of rows) {
    yield row;
    if (--left.rows <= 0) return;
  }
}

/** For a list without rows: nothing changed, nothing could be read, or nothing is known any more. */
function emptyTextOf({ runs, sinceMs }: ChosenRuns, { counts }: ChangesHeading): string {
  const isCounted = runs.length > 0 && sinceMs === null;
  if (!isCounted) return 'Nothing changed.';
  const seen = counts.filter(([, count]) => count > 0).map(([outcome]) => outcome);
  if (seen.includes('failed')) return 'Nothing changed, as far as pages could be read.';
  if (seen.length > 0) return 'Nothing changed.';
  if (runs.some(({ pages }) => pages > 0)) return 'No visits are kept: their history was cleared.';
  const error = runs.at(-1)!.error;
  return `No page was read${error === null ? '' : `: ${error}`}.`;
}

async function* rowsOf(
  side: ReadSide,
  { project, runs, sinceMs }: ChosenRuns,
  outcomes: readonly VisitOutcome[],
  left: { rows: number },
  pageId?: number,
): AsyncGenerator<ToldChange> {
  if (runs.length === 0 || left.rows <= 0) return;
  const [fromRun, toRun] = [runs[0].run, runs.at(-1)!.run];
  for await (const row of side.changes({ fromRun, toRun, projectId: project.id, pageId, outcomes })) {
    if (sinceMs !== null && Date.parse(row.visited_at) < sinceMs) continue;
    yield toldChange(row, project.project);
    if (--left.rows <= 0) return;
  }
}

async function headingOf(
  side: ReadSide,
  { project, runs, sinceMs, look }: ChosenRuns,
  outcomes: readonly VisitOutcome[],
  net: NetChanges | null,
): Promise<ChangesHeading> {
  const last = runs.at(-1);
  const which =
    last === undefined
      ? 'no run'
      : runs.length === 1
        ? `run ${last.run}`
        : `runs ${runs[0].run} to ${last.run}`;
  const none = look?.last === null ? 'no other run was made' : 'nothing was crawled since';
  const notes = [last === undefined ? none : describeRuns(runs)];
  if (look?.last === null) notes.push('first look: the last 24 hours, without the first crawl');
  if (net !== null && net.takenBack > 0)
    notes.push(`${showMany(net.takenBack, 'page')} changed and changed back`);
  const heading: ChangesHeading = {
    title: `Changes of ${project.project}, ${sinceText(sinceMs, look)}${which}`,
    note: notes.join('; '),
    counts: [],
  };
  if (net !== null)
    return { ...heading, counts: outcomes.map((outcome) => [outcome, net.counts.get(outcome) ?? 0]) };
  // By time, the runs' own counts say too much.
  if (sinceMs !== null) return heading;
  const counts = new Map<VisitOutcome, number>(outcomes.map((outcome) => [outcome, 0]));
  for (const { run } of runs) {
    for (const { outcome, visits } of await side.ledger(run))
      counts.set(outcome, (counts.get(outcome) ?? 0) + visits);
  }
  return { ...heading, counts: [...counts] };
}

function sinceText(sinceMs: number | null, look: ChosenRuns['look']): string {
  const minute = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`;
  if (look?.last != null) return `since the last look of ${look.reader} at ${minute(look.last.at)}, `;
  return sinceMs === null ? '' : `since ${minute(sinceMs)}, `;
}

function describeRuns(runs: readonly RunRow[]): string {
  const earlier = runs.length - SHOWN_RUNS;
  return [
    ...(earlier > 0 ? [`${showCount(earlier)} earlier`] : []),
    ...runs.slice(-SHOWN_RUNS).map(describeRun),
  ].join('; ');
}

function describeRun({ run, status, started_at, mode, mode_reason }: RunRow): string {
  // Where the mode was asked for, the reason says no more than that.
  const reason = mode_reason === null || mode_reason === `mode ${mode}` ? '' : ` (${mode_reason})`;
  const how = mode === null ? '' : `, ${mode}${reason}`;
  return `run ${run} ${status}, begun ${started_at.slice(0, 19)}Z${how}`;
}

/** Every project that knows the page tells its history. */
async function historyOf(reading: Reading, url: string, flags: ChangesFlags): Promise<TellableChanges> {
  const { side, config, limit } = reading;
  const pages = await requirePages(reading, url);
  const chosen: { page: PageRow; runs: ChosenRuns }[] = [];
  for (const page of pages) {
    // A run belongs to one project; the others have nothing to say of it.
    const ofProject = { ...reading, project: page.project };
    const isOther = pages.length > 1 && (await isRunOfOthers(side, flags, page.project));
    if (!isOther) chosen.push({ page, runs: await chooseRuns(ofProject, flags, true, Date.now()) });
  }
  if (chosen.length === 0)
    throw sumiError('unknown-run', { run: flags.run ?? flags.since!, file: config.storeLabel });
  const left = { rows: limit ?? Number.POSITIVE_INFINITY };
  async function* rows(): AsyncGenerator<ToldChange> {
    for (const { page, runs } of chosen) {
      const project = await projectOf(side, page.project);
      yield* rowsOf(side, { ...runs, project }, VISIT_OUTCOMES, left, page.id);
    }
  }
  const { page } = chosen[0];
  return {
    rows,
    names: TOLD_NAMES,
    list: (): ChangesList => ({
      heading: {
        title: `Visits of ${page.url}`,
        note: `${page.state}${page.title === null ? '' : `: ${page.title}`}; ${describeChanges(page)}`,
        counts: [],
      },
      sections: [{ title: null, rows: withoutTitles(rows()) }],
      showsRun: true,
      emptyText: 'No visit of it is kept.',
    }),
  };
}

async function isRunOfOthers(side: ReadSide, { run, since }: RunFlags, project: string): Promise<boolean> {
  const number = run ?? since ?? '';
  return isRunNumber(number) && (await side.run(Number(number)))?.project !== project;
}

/** The title that is known is the last one: beside older visits it would be wrong. */
async function* withoutTitles(rows: AsyncIterable<ToldChange>): AsyncGenerator<ToldChange> {
  for await (const row of rows) yield { ...row, title: null };
}

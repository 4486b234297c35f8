/**
 * The pages that differ between two runs, a page of results at a time: each is told where its last visit between the two
 * runs stands, with what `sumi compare` says of it. A call reads a bounded number of visits, so that nothing grows with the
 * project but the number of calls; only the counts need all visits, and are left out where those are many.
 */
import { compareRuns, RUN_DIFFERENCES, type RunDifference } from '../change/compare-runs.ts';
import type { ChangePart, VisitOutcome } from '../change/visit-record.ts';
import type { ComparedList, Difference } from '../contract/changes.ts';
import type { ListAnswer } from '../contract/lists.ts';
import {
  type ComparedRuns,
  compareTwoRuns,
  findTwoRuns,
  tellDifference,
} from '../project/compare-two-runs.ts';
import type { ChangeRow, ProjectRow, ReadSide } from '../store/read-side.ts';
import type { Answering } from './answering.ts';
import { countByReading, listAnswer, type PageOfList, readResults } from './list-answer.ts';
import { describeTold, isOfParts } from './list-changes.ts';
import { readingOf } from './reading-of.ts';

export interface CompareQuestion extends PageOfList {
  from: number;
  to: number;
  outcomes?: readonly RunDifference[];
  parts?: readonly ChangePart[];
}

type Asked = Pick<Answering, 'side' | 'storeLabel'>;

/** Visits that can make a difference. */
const TELLING: readonly VisitOutcome[] = ['new', 'changed', 'gone', 'failed'];

export async function compareProjectRuns(
  asked: Asked,
  project: ProjectRow,
  question: CompareQuestion,
): Promise<ComparedList> {
  const { side } = asked;
  const reading = readingOf(asked, project);
  const two = await findTwoRuns(reading, [question.from, question.to]);
  const { first, second } = two;
  const read = (place: PageOfList) => readDifferences(side, two, question, place);
  const answer = await read(question);
  // All visits up to the later run are read for the counts.
  const visits = await side.count('visits', { project: project.project, toRun: second.run });
  const whole = visits.isExact ? await compareTwoRuns(reading, [first.run, second.run]) : null;
  return {
    ...answer,
    ...(question.count === true && (await countByReading(read))),
    ...{ from: first.run, to: second.run, counts: whole?.counts ?? null },
  };
}

async function readDifferences(
  side: ReadSide,
  two: ComparedRuns,
  { outcomes = RUN_DIFFERENCES, parts }: CompareQuestion,
  place: PageOfList,
): Promise<ListAnswer<Difference>> {
  const { project, first, second } = two;
  const filter = {
    ...{ project: project.project, fromRun: first.run + 1, toRun: second.run },
    outcomes: [...TELLING],
  };
  const results = await readResults(side, 'changes', { filter }, place);
  const items: Difference[] = [];
  for (const row of results.rows) {
    const told = await differenceAt(side, two, row);
    if (told === null || !outcomes.includes(told.outcome) || !isOfParts(told, parts)) continue;
    items.push(told);
  }
  return listAnswer(items, results);
}

/** Null where the page has a later visit that tells, or does not differ. */
async function differenceAt(side: ReadSide, two: ComparedRuns, row: ChangeRow): Promise<Difference | null> {
  const { project, first, second } = two;
  const { page_id: pageId } = row;
  const visits = (await side.visits(pageId)).filter(({ run }) => run <= second.run);
  const telling = visits.findLast(({ run, outcome }) => run > first.run && TELLING.includes(outcome));
  if (telling?.run !== row.run || telling.visited_at !== row.visited_at) return null;
  async function* briefly() {
    for (const { run, outcome, known_by: knownBy } of visits) yield { run, pageId, outcome, knownBy };
  }
  const { differences } = await compareRuns(briefly(), first.run, second.run);
  const told = differences.length === 0 ? null : await tellDifference(side, two, differences[0]);
  if (told === null) return null;
  return { outcome: differences[0].difference, ...describeTold(told, pageId, project.uid) };
}

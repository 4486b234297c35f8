/** What the use cases found of changes, ready to be written in any format. */
import { COMPARED_NAMES, TOLD_NAMES } from '../change/told-change.ts';
import type { Differences } from '../project/compare-two-runs.ts';
import type { Changes, PageHistory } from '../project/list-changes.ts';
import { changesList, differencesList, historyList } from '../render/changes-lists.ts';
import type { TellableChanges } from './change-pieces.ts';

export function tellChanges(changes: Changes): TellableChanges {
  return {
    rows: () => changes.rows(),
    names: changes.isNet ? COMPARED_NAMES : TOLD_NAMES,
    list: () => changesList(changes),
  };
}

export function tellHistory(history: PageHistory): TellableChanges {
  return { rows: () => history.rows(), names: TOLD_NAMES, list: () => historyList(history) };
}

export function tellDifferences(differences: Differences): TellableChanges {
  const { project, first, second, counts } = differences;
  return {
    rows: () => differences.rows(),
    names: COMPARED_NAMES,
    list: () => differencesList(differences),
    summary: { project: project.project, runs: [first.run, second.run], ...counts },
  };
}

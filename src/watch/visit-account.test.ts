import { expect, it } from 'vitest';
import { readBudget } from '../config/watch-values.ts';
import type { ReadSide, StoredRun } from '../store/read-side.ts';
import { VisitAccount } from './visit-account.ts';
import type { WatchSettings } from './watch-settings.ts';
import { newState, readState, writeState } from './watch-state.ts';

const AT = Date.UTC(2026, 2, 4);
const HOST = 7;

const settingsOf = (host: string | null): WatchSettings => ({
  kind: 'value',
  everyMs: 900_000,
  hours: null,
  all: readBudget('20/day')!,
  host: host === null ? null : readBudget(host)!,
});

it('gives a host nothing back that it never paid: its budget was given after a look that was killed', async () => {
  const state = newState('value');
  const account = VisitAccount.afterCrawl(settingsOf(null), state, AT - 86_400_000);
  account.budget.look(AT);
  account.payAhead({ afterRun: 3, room: 10, hostIds: Array(10).fill(HOST), others: 0 });
  state.budget = account.budget.save();
  const kept = readState(writeState(state))!;
  const again = VisitAccount.kept(settingsOf('2/day'), kept)!;
  // The run was never begun.
  await again.settle({ run: 3 } as StoredRun, { side: {} as ReadSide, projectId: 1 });
  again.budget.look(AT + 60_000);
  expect(again.budget.hostVisits(HOST)).toBe(2);
  expect(again.budget.visits()).toBe(20);
});

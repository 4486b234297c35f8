/** What a store, or one project in it, amounts to: the answer of `sumi stats --format json`. */
import type { RunRow, StoreTotals } from '../store/read-side.ts';
import type { Reading } from './reading.ts';

export interface StoreDescription extends StoreTotals {
  file: string;
  projects: string[];
  runs: number;
  last_run: RunRow | null;
}

export async function describeStore({ side, project, storeLabel }: Reading): Promise<StoreDescription> {
  const totals = await side.totals(project);
  const projects = (await side.projects()).map((row) => row.project);
  let runs = 0;
  let lastRun: RunRow | null = null;
  for await (const run of side.runs({ project })) {
    runs++;
    lastRun = run;
  }
  return {
    file: storeLabel,
    projects: project === undefined ? projects : [project],
    runs,
    last_run: lastRun,
    ...totals,
  };
}

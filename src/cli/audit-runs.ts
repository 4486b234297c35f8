/** Replays the request log of a store with each run's own floor, and looks for pages that stand twice. */
import { type AuditResult, auditRequests } from '../politeness/audit.ts';
import type { ReadSide } from '../store/read-side.ts';
import { floorOfRun } from './stored-config.ts';

export interface RepeatedUrl {
  project: string;
  url: string;
  count: number;
}

export interface Audited extends AuditResult {
  repeated: RepeatedUrl[];
  /** Requests that broke a promise, and pages that stand twice. */
  allViolations: number;
  allByKind: Record<string, number>;
}

export const MAX_DETAILS = 100;

/** `run` undefined for all runs. */
export async function auditRuns(side: ReadSide, run: number | undefined): Promise<Audited> {
  const floors = new Map<number, ReturnType<typeof floorOfRun>>();
  let begunAt = 0;
  for await (const row of side.runs({})) {
    if (row.run === run) begunAt = Date.parse(row.started_at);
    const stored = await side.run(row.run);
    if (stored !== null) floors.set(row.run, floorOfRun(stored));
  }
  const result = await auditRequests(side.requestLog(), {
    run,
    maxDetails: MAX_DETAILS,
    floorOf: (id) => floors.get(id) ?? { delayMs: 0, sinceMs: 0 },
  });
  const repeated: RepeatedUrl[] = [];
  for await (const row of side.repeatedUrls()) repeated.push(row);
  return {
    ...result,
    // Of a run that began later nothing is missing.
    clearedUntil: result.clearedUntil !== null && result.clearedUntil > begunAt ? result.clearedUntil : null,
    repeated,
    allViolations: result.violations + repeated.length,
    allByKind: { ...result.byKind, ...(repeated.length > 0 && { 'repeated-url': repeated.length }) },
  };
}

/** Said where a log is judged that `sumi forget` has shortened. */
export function clearedText(until: string): string {
  return `The request log before ${until} was cleared (sumi forget, --keep-history): what was asked then is not judged.`;
}

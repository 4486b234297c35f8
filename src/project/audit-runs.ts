/**
 * Replays the request log of a store with the configured delay of each run, and looks for pages that are stored twice.
 * The answer is what `sumi audit --json` prints.
 */
import { sumiError } from '../errors.ts';
import { auditRequests, type ViolationKind } from '../politeness/audit.ts';
import { floorOfRun } from './config-of-run.ts';
import type { Reading } from './reading.ts';

export interface AuditedRequest {
  kind: ViolationKind;
  host: string;
  request: number;
  run: number;
  sent_at: string;
  detail: string;
}

export interface RepeatedUrl {
  kind: 'repeated-url';
  project: string;
  url: string;
  count: number;
}

export interface Audit {
  requests: number;
  hosts: number;
  /** Requests that broke a promise, and pages that are stored twice. */
  violations: number;
  /** Restarts after a crash, one a host that was leased. */
  gaps: number;
  /** The log before this time was cleared and is not judged; null where it is whole. */
  cleared_until: string | null;
  by_kind: Record<string, number>;
  /** The first ones of the requests, then the first ones of the repeated URLs. */
  details: (AuditedRequest | RepeatedUrl)[];
}

const MAX_DETAILS = 100;

/** `run` undefined for all runs; `project`: only its requests and its pages are judged. */
export async function auditRuns(
  { side, storeLabel }: Pick<Reading, 'side' | 'storeLabel'>,
  run: number | undefined,
  project?: string,
): Promise<Audit> {
  const asked = run === undefined ? null : await side.run(run);
  if (run !== undefined && (asked === null || (project !== undefined && asked.project !== project)))
    throw sumiError('unknown-run', { run, file: storeLabel });
  const ofProject = new Set<number>();
  const floors = new Map<number, ReturnType<typeof floorOfRun>>();
  let begunAt = 0;
  for await (const row of side.runs({})) {
    if (row.run === run) begunAt = Date.parse(row.started_at);
    if (row.project === project) ofProject.add(row.run);
    const stored = await side.run(row.run);
    if (stored !== null) floors.set(row.run, floorOfRun(stored));
  }
  const { requests, hosts, violations, byKind, gaps, clearedUntil, details } = await auditRequests(
    side.requestLog(),
    {
      run,
      runs: project === undefined ? undefined : ofProject,
      maxDetails: MAX_DETAILS,
      floorOf: (id) => floors.get(id) ?? { delayMs: 0, sinceMs: 0 },
    },
  );
  const repeated: RepeatedUrl[] = [];
  for await (const row of side.repeatedUrls())
    if (project === undefined || row.project === project) repeated.push({ kind: 'repeated-url', ...row });
  // Of a run that began later nothing is missing.
  const isCleared = clearedUntil !== null && clearedUntil > begunAt;
  return {
    requests,
    hosts,
    violations: violations + repeated.length,
    gaps,
    cleared_until: isCleared ? new Date(clearedUntil).toISOString() : null,
    by_kind: { ...byKind, ...(repeated.length > 0 && { 'repeated-url': repeated.length }) },
    details: [
      ...details.map(({ kind, host, request, run: of, sentAt, detail }) => ({
        ...{ kind, host, request, run: of, sent_at: new Date(sentAt).toISOString(), detail },
      })),
      ...repeated.slice(0, MAX_DETAILS),
    ],
  };
}

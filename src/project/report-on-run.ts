/** Puts together what is told of one run: its row, the options that made it, its figures, and the audit of its requests. */
import type { VisitOutcome } from '../change/visit-record.ts';
import type { Config } from '../config/load-config.ts';
import { OPTION_NAMES, OPTIONS, type OptionName, type ProfiledName } from '../config/option-table.ts';
import { PROFILES } from '../config/profiles.ts';
import { sumiError } from '../errors.ts';
import type { StoredRun } from '../store/read-side.ts';
import type { DomainFigures, RunReport } from '../store/run-report.ts';
import { isCrawl } from '../store/unfinished-run.ts';
import { auditRuns } from './audit-runs.ts';
import { recordedConfig } from './config-of-run.ts';
import type { Reading } from './reading.ts';

export interface FullReport {
  run: number;
  project: string;
  status: string;
  error: string | null;
  started_at: string;
  finished_at: string | null;
  duration_seconds: number;
  /** False when a later run of the project may have visited pages of this one again. */
  is_latest: boolean;
  metadata: Record<string, string> | null;
  config_hash: string;
  /** What the run was told, and every other option that is not at its default. */
  configuration: Record<string, unknown>;
  /** How known pages were visited again, and why in that way; null for runs of versions that knew no modes. */
  mode: string | null;
  mode_reason: string | null;
  pages: number;
  requests: number;
  bytes: number;
  bytes_saved: number;
  pages_per_second: number;
  /** Known pages that the run ended without asking for: they stay as they were. */
  left_out: number;
  /** Visits by what they found. */
  outcomes: Record<VisitOutcome, number>;
  /** Visits by outcome and how that was known, with the bytes that were spared. */
  ledger: { outcome: VisitOutcome; known_by: string; visits: number; bytes_saved: number }[];
  statistics: Omit<RunReport, 'is_latest' | 'duration_seconds' | 'domains' | 'top_errors' | 'deepest_pages'>;
  politeness: {
    requests: number;
    violations: number;
    by_kind: Record<string, number>;
    restarts: number;
    /** The request log was cleared up to then, and what is counted from it with it; null where it is whole. */
    cleared_until: string | null;
  };
  domains: DomainFigures[];
  top_hosts: Pick<DomainFigures, 'host' | 'requests' | 'page_requests' | 'failed_requests' | 'bytes'>[];
  top_errors: RunReport['top_errors'];
  deepest_pages: RunReport['deepest_pages'];
}

const MOST_HOSTS = 10;
const ALWAYS_TOLD: ReadonlySet<OptionName> = new Set<OptionName>([
  'start-urls',
  'profile',
  'max-pages',
  'max-depth',
  'delay',
  'concurrency',
  'per-host',
  'robots',
  'bodies',
]);

/** `id` undefined: the last crawl. A run that is not there, or of another project, is an error. */
export async function findReportedRun(reading: Reading, id: number | undefined): Promise<StoredRun> {
  const run = id === undefined ? await lastRun(reading) : await reading.side.run(id);
  if (run === null || (reading.project ?? run.project) !== run.project) throw unknownRun(reading, id);
  return run;
}

async function lastRun({ side, project }: Reading): Promise<StoredRun | null> {
  let last: number | null = null;
  let lastCrawl: number | null = null;
  for await (const row of side.runs({ project })) {
    if (row.run > (last ?? 0)) last = row.run;
    if (row.run > (lastCrawl ?? 0) && isCrawl(row)) lastCrawl = row.run;
  }
  const wanted = lastCrawl ?? last;
  return wanted === null ? null : side.run(wanted);
}

export function unknownRun({ storeLabel }: Reading, id: number | undefined): Error {
  return sumiError('unknown-run', { run: id ?? 'yet', file: storeLabel });
}

/** `id` undefined: the last crawl. */
export async function reportOnRun(reading: Reading, id?: number): Promise<FullReport> {
  const stored = await findReportedRun(reading, id);
  const figures = await reading.side.report(stored.run);
  // Another process has deleted it meanwhile.
  if (figures === null) throw unknownRun(reading, id);
  const { is_latest, duration_seconds, domains, top_errors, deepest_pages, ...statistics } = figures;
  const { run, project, status, error, started_at, finished_at, config_hash, pages, requests, bytes } =
    stored;
  const audit = await auditRuns(reading, run);
  const ledger = (await reading.side.ledger(run)).map(({ outcome, knownBy, visits, bytesSaved }) => ({
    ...{ outcome, known_by: knownBy, visits, bytes_saved: bytesSaved },
  }));
  return {
    ...{ run, project, status, error, started_at, finished_at, duration_seconds, is_latest },
    metadata: stored.metadata === null ? null : (JSON.parse(stored.metadata) as Record<string, string>),
    config_hash,
    configuration: whatMatters(await recordedConfig(stored)),
    ...{ mode: stored.mode, mode_reason: stored.mode_reason, pages, requests, bytes },
    bytes_saved: ledger.reduce((sum, row) => sum + row.bytes_saved, 0),
    pages_per_second: duration_seconds > 0 ? Math.round((pages / duration_seconds) * 10) / 10 : 0,
    left_out: stored.left_out,
    outcomes: countOutcomes(ledger),
    ledger,
    statistics,
    politeness: {
      requests: audit.requests,
      violations: audit.violations,
      by_kind: audit.by_kind,
      restarts: audit.gaps,
      cleared_until: audit.cleared_until,
    },
    domains,
    top_hosts: domains
      .slice(0, MOST_HOSTS)
      .map(({ host, requests, page_requests, failed_requests, bytes }) => ({
        ...{ host, requests, page_requests, failed_requests, bytes },
      })),
    ...{ top_errors, deepest_pages },
  };
}

function countOutcomes(ledger: FullReport['ledger']): Record<VisitOutcome, number> {
  const counts = { new: 0, changed: 0, unchanged: 0, gone: 0, failed: 0 };
  for (const { outcome, visits } of ledger) counts[outcome] += visits;
  return counts;
}

function whatMatters(config: Config): Record<string, unknown> {
  const profiled: Partial<Record<OptionName, unknown>> = PROFILES[config.profile].defaults;
  const told: Record<string, unknown> = {};
  for (const name of OPTION_NAMES) {
    const { default: usual = profiled[name as ProfiledName], hashed, secret } = OPTIONS[name];
    const { value } = config.sources[name];
    const isChanged = hashed !== false && JSON.stringify(value) !== JSON.stringify(usual);
    if (!secret && (ALWAYS_TOLD.has(name) || isChanged)) told[name] = value;
  }
  for (const list of ['quality', 'blacklist', 'stub'] as const) {
    if (config.terrain[list].length > 0) told[`${list}-domains`] = config.terrain[list].length;
  }
  return told;
}

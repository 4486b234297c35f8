// What a run's history says, for tests: outcome and how it was known by path, as any SQLite tool reads it.
import type { CrawlFile } from './crawl-site.ts';

export interface VisitRow {
  path: string;
  outcome: string;
  known_by: string;
  status_code: number | null;
  wire_bytes: number;
  bytes_saved: number;
  simhash_distance: number | null;
}

/** The visits of a run; without one, of the last. */
export function visitsOf(file: CrawlFile, run?: number): VisitRow[] {
  const rows = file.rows<VisitRow & { url: string }>(
    `SELECT p.fetch_url AS url, v.outcome, v.known_by, v.status_code, v.wire_bytes, v.bytes_saved, v.simhash_distance
     FROM visits v JOIN pages p ON p.id = v.page_id
     WHERE v.run_id = COALESCE(?, (SELECT max(id) FROM runs)) ORDER BY p.id, v.visited_at`,
    run ?? null,
  );
  return rows.map(({ url, ...row }) => ({ ...row, path: new URL(url).pathname + new URL(url).search }));
}

/** By path: "unchanged 304". */
export function outcomes(file: CrawlFile, run?: number): Record<string, string> {
  return Object.fromEntries(
    visitsOf(file, run).map(({ path, outcome, known_by: knownBy }) => [path, `${outcome} ${knownBy}`]),
  );
}

/** What changed in the last run, by path. */
export function changedParts(file: CrawlFile): Record<string, string> {
  const rows = file.rows<{ url: string; parts: string }>(
    `SELECT p.fetch_url AS url, c.parts FROM page_changes c JOIN pages p ON p.id = c.page_id
     WHERE c.run_id = (SELECT max(id) FROM runs)`,
  );
  return Object.fromEntries(rows.map(({ url, parts }) => [new URL(url).pathname, parts]));
}

/** The counts of a run for the summary: how many visits had which outcome, and what was saved at which level. Pure. */
import { KNOWN_BY, type KnownBy } from '../change/visit-record.ts';
import type { LedgerRow } from '../store/run-port.ts';
import type { LedgerLine, SummaryEvent } from './events.ts';

type ChangeCounts = Pick<
  SummaryEvent,
  'new' | 'changed' | 'unchanged' | 'gone' | 'failed' | 'not_transferred' | 'bytes_saved' | 'ledger'
>;

/** Known without a request, and known without a body. */
const WITHOUT_REQUEST: ReadonlySet<KnownBy> = new Set(['freshness', 'lastmod']);
const WITHOUT_BODY: ReadonlySet<KnownBy> = new Set(['freshness', 'lastmod', '304']);

export function countChanges(rows: readonly LedgerRow[]): ChangeCounts {
  const counts = { new: 0, changed: 0, unchanged: 0, gone: 0, failed: 0, not_transferred: 0, bytes_saved: 0 };
  const levels = new Map<KnownBy, LedgerLine>();
  for (const { outcome, knownBy, visits, bytesSaved } of rows) {
    counts[outcome] += visits;
    counts.bytes_saved += bytesSaved;
    // For an orphan, or a page that is no orphan any more, the saved bytes may be as few as for an unchanged page.
    if (outcome !== 'unchanged' && bytesSaved === 0) continue;
    if (WITHOUT_BODY.has(knownBy)) counts.not_transferred += visits;
    const line = levels.get(knownBy) ?? { level: knownBy, pages: 0, requests_saved: 0, bytes_saved: 0 };
    levels.set(knownBy, line);
    line.pages += visits;
    line.requests_saved += WITHOUT_REQUEST.has(knownBy) ? visits : 0;
    line.bytes_saved += bytesSaved;
  }
  const ledger = [...levels.values()].sort((a, b) => KNOWN_BY.indexOf(a.level) - KNOWN_BY.indexOf(b.level));
  return { ...counts, ledger };
}

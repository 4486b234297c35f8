/** A host's row as both adapters read it, and the lease that is made of it. */
import type { PageStateCode } from '../frontier/page-state.ts';
import type { HostLease } from './host-port.ts';

export interface HostRow {
  id: number;
  name: string;
  not_before: number;
  blocked_until: number;
  consecutive_429: number;
  adaptive_ms: number;
  average_ms: number;
  samples: number;
  failures: number;
  probes: number;
  distrusted_until: number;
  announced: number;
  unannounced: number;
  head_checks: number;
  fence: number;
  taken_over: number;
  lease_owner: string | null;
  requests: number;
  closed_state: PageStateCode | null;
  closed_reason: string | null;
}

/** The lease after the host was taken: `row` is how it was before. */
export function leaseOf(row: HostRow, until: number): HostLease {
  return {
    hostId: row.id,
    host: row.name,
    fence: row.fence + 1,
    until,
    takenOver: row.taken_over === 1 || row.lease_owner !== null,
    closed: row.closed_state === null ? null : { state: row.closed_state, reason: row.closed_reason ?? '' },
    state: {
      notBefore: row.not_before,
      blockedUntil: row.blocked_until,
      consecutive429: row.consecutive_429,
      adaptiveMs: row.adaptive_ms,
      averageMs: row.average_ms,
      samples: row.samples,
      failures: row.failures,
      probes: row.probes,
      requests: row.requests,
      distrustedUntil: row.distrusted_until,
      announced: row.announced,
      unannounced: row.unannounced,
      headChecks: row.head_checks,
    },
  };
}

/** Step 10 for a page: counts what was settled and tells whoever listens. */

import type { EventHub } from '../../events/event-hub.ts';
import type { PageEvent } from '../../events/events.ts';
import type { Outcome } from '../../fetch/fetcher.ts';
import { pageStateName } from '../../frontier/page-state.ts';
import type { Settled, Settlement } from '../../store/settlement.ts';

/** `outcome` is null when nothing was requested. */
export function emitPageEvent(
  settled: Settled,
  settlement: Settlement,
  outcome: Outcome | null,
  events: EventHub,
): void {
  const state = pageStateName(settled.state);
  events.count(state);
  for (let i = 0; i < settled.failedSources.length; i++) events.count('Failed');
  if (!events.wantsPages) return;
  const { claim, facts, links, visit } = settlement;
  events.emit({
    type: 'page',
    page_id: claim.pageId,
    url: claim.url,
    state,
    reason: settled.reason,
    status_code: facts?.statusCode ?? visit?.statusCode ?? null,
    title: facts?.title ?? null,
    depth: claim.depth,
    content_type: facts?.contentType ?? null,
    links: links?.count ?? 0,
    bytes: outcome?.wireBytes ?? 0,
    duration_ms: outcome?.responseMs ?? null,
    outcome: visit?.outcome ?? null,
    known_by: visit?.knownBy ?? null,
    // False where the server, or its word from before, says that nothing changed.
    is_modified: visit !== null && !SPARED.has(visit.knownBy),
    change_detected: visit?.outcome === 'changed',
    change_frequency: settlement.changeFrequency,
    bytes_saved: visit?.bytesSaved ?? 0,
  });
  // They were told as Processed when they redirected; their chain has now come to nothing.
  for (const { pageId, url, depth, reason } of settled.failedSources) {
    events.emit({ ...NO_ANSWER, page_id: pageId, url, depth, reason });
  }
}

/** Known without a body. */
const SPARED: ReadonlySet<PageEvent['known_by']> = new Set(['freshness', 'lastmod', '304']);

const NO_ANSWER = {
  type: 'page',
  state: 'Failed',
  status_code: null,
  title: null,
  content_type: null,
  links: 0,
  bytes: 0,
  duration_ms: null,
  outcome: null,
  known_by: null,
  is_modified: false,
  change_detected: false,
  change_frequency: 0,
  bytes_saved: 0,
} as const;

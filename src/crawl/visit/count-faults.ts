/**
 * What a stage throws on one page is that page's outcome: it ends as Failed with a reason that begins with `internal:`,
 * the stack is told as an event, and the run goes on. After `MOST_FAULTS` of them the run is stopped, since the fault is
 * then not that of a page.
 *
 * A SumiError is no fault of a page: the store, the disk or the operator's own function failed, and that has an end of
 * its own. `note` throws such an error again.
 */
import { SumiError, sumiError } from '../../errors.ts';
import type { EventHub } from '../../events/event-hub.ts';

/** With so many in one process the run stops. */
const MOST_FAULTS = 20;
const LONGEST_REASON = 200;

export interface PageFaults {
  /** Counts and tells what was thrown while `url` was worked on. Gives the reason that is stored. */
  note(url: string, error: unknown, pageId?: number): string;
  /** Throws once there are too many. To be called when what was noted has been settled. */
  check(): void;
}

export function createPageFaults(events: Pick<EventHub, 'emit'>): PageFaults {
  let count = 0;
  let first: { url: string; reason: string } | null = null;
  return {
    note(url, error, pageId) {
      if (error instanceof SumiError) throw error;
      const reason = `internal: ${messageOf(error)}`;
      count++;
      first ??= { url, reason };
      events.emit({ type: 'fault', page_id: pageId ?? null, url, reason, stack: stackOf(error) });
      return reason;
    },
    check() {
      if (count >= MOST_FAULTS) throw sumiError('internal-failures', { count, ...first! });
    },
  };
}

/** On one line, and no longer than a reason should be. */
function messageOf(error: unknown): string {
  const text = (error instanceof Error ? error.message || error.name : String(error))
    .replace(/\s+/g, ' ')
    .trim();
  return text.length <= LONGEST_REASON ? text : `${text.slice(0, LONGEST_REASON - 1)}…`;
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? String(error)) : String(error);
}

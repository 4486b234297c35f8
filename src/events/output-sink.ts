/**
 * An output sink is a plain object: a program gives one to `crawl` to write the results somewhere else. Its methods are
 * called in the order of settlement. A missing method is not called, and the links of a page become URLs only if some
 * sink has a method for them. `finalize` is called once, last, and awaited.
 */
import type { PageState } from '../frontier/page-state.ts';
import type { EventHub } from './event-hub.ts';
import type { CrawlEvent, RunStatus, SummaryEvent, ToldLink } from './events.ts';

export interface OutputSink {
  recordPage?(page: { url: string; title: string | null; statusCode: number | null; depth: number }): void;
  recordLink?(from: string, to: string): void;
  recordBlacklisted?(url: string, referrer: string): void;
  recordStubbed?(url: string, referrer: string): void;
  recordError?(url: string, error: { state: PageState; reason: string }): void;
  generateSummary?(summary: SummaryEvent): void;
  /** `failed` also if the run ended with an error. */
  finalize?(status: RunStatus): void | Promise<void>;
}

/** `guard` runs the sink's own code and makes its exceptions an error of the run. */
export function attachSink(events: EventHub, sink: OutputSink, guard: (call: () => void) => void): void {
  events.subscribe((event) => guard(() => tellSink(sink, event)), ['run', 'page']);
  if (sink.recordLink ?? sink.recordBlacklisted ?? sink.recordStubbed) {
    events.listenToLinks((from, links) => guard(() => tellLinks(sink, from, links)));
  }
}

function tellSink(sink: OutputSink, event: CrawlEvent): void {
  if (event.type === 'summary') sink.generateSummary?.(event);
  if (event.type !== 'page') return;
  if (event.state === 'Processed') {
    sink.recordPage?.({
      url: event.url,
      title: event.title,
      statusCode: event.status_code,
      depth: event.depth,
    });
  } else {
    sink.recordError?.(event.url, { state: event.state, reason: event.reason ?? '' });
  }
}

function tellLinks(sink: OutputSink, from: string, links: readonly ToldLink[]): void {
  for (const { to, state } of links) {
    sink.recordLink?.(from, to);
    if (state === 'Blacklisted') sink.recordBlacklisted?.(to, from);
    else if (state === 'Stubbed') sink.recordStubbed?.(to, from);
  }
}

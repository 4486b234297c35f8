/** What a crawl tells while it runs: typed events, the same for the terminal, --json, programs and tests. */
import type { PageState } from '../frontier/page-state.ts';

export type RunStatus = 'completed' | 'interrupted' | 'failed';

export interface RunEvent {
  type: 'run';
  run: number;
  project: string;
  resumed: boolean;
  config_changed: boolean;
  known_urls: number;
}

export interface PageEvent {
  type: 'page';
  url: string;
  state: PageState;
  reason: string | null;
  status_code: number | null;
  title: string | null;
  depth: number;
  content_type: string | null;
  links: number;
  bytes: number;
  duration_ms: number | null;
}

export interface HostEvent {
  type: 'host';
  host: string;
  what: 'robots' | 'blocked' | 'breaker' | 'closed' | 'lost';
  detail: string;
  until: number | null;
}

export interface ProgressEvent {
  type: 'progress';
  pages: number;
  pages_per_second: number;
  waiting: number;
  hosts_active: number;
  hosts_cooling: number;
  in_flight: number;
  errors: number;
  percent: number;
  seconds_left: number | null;
}

export interface SummaryEvent {
  type: 'summary';
  run: number;
  project: string;
  status: RunStatus;
  pages: number;
  requests: number;
  bytes: number;
  duration_ms: number;
  by_state: Record<string, number>;
  known_urls: number;
  waiting: number;
  error: string | null;
}

export type CrawlEvent = RunEvent | PageEvent | HostEvent | ProgressEvent | SummaryEvent;
export type EventListener = (event: CrawlEvent) => void;

/** A link of a settled page, by the identity of its target and the state that the scope gives it. */
export interface ToldLink {
  to: string;
  state: PageState;
}

/** Links are no events: a page has a hundred, and only output sinks want them one by one. */
export type LinkListener = (from: string, links: readonly ToldLink[]) => void;

/**
 * The states of a page. The store keeps the number; people and programs see the name. Numbers are part of the file
 * format: never use one twice.
 */
export const PAGE_STATES = {
  Discovered: 0,
  Queued: 1,
  Fetching: 2,
  Processed: 3,
  Blacklisted: 4,
  Stubbed: 5,
  DeadLink: 6,
  Unreachable: 7,
  RateLimited: 8,
  Failed: 9,
  DepthExceeded: 10,
  RequestLimitHit: 11,
  ContentMismatch: 12,
  Skipped: 13,
  Gone: 14,
} as const;

export type PageState = keyof typeof PAGE_STATES;
export type PageStateCode = (typeof PAGE_STATES)[PageState];

/** States that the scope gives, not an answer. */
export const SHUT_OUT: ReadonlySet<PageStateCode> = new Set([
  PAGE_STATES.Discovered,
  PAGE_STATES.Skipped,
  PAGE_STATES.DepthExceeded,
]);

const names = Object.keys(PAGE_STATES) as PageState[];

export function pageStateName(code: number): PageState {
  return names[code];
}

export function isPageState(name: string): name is PageState {
  return name in PAGE_STATES;
}

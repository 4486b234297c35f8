/** How much one request may be, and how long it may take to arrive. */

export const MOST_BODY_BYTES = 1_000_000;
/** Of the request line and the headers together. */
export const MOST_HEADER_BYTES = 16_384;
/** For the headers, then for the whole request. */
export const HEADERS_MS = 10_000;
export const REQUEST_MS = 30_000;
/** How long a connection may be kept without a request. */
export const IDLE_MS = 65_000;
/** How long a client may take nothing of an answer that waits for it. */
export const STALLED_MS = 60_000;
/** Connections at once: far fewer than a process may open. */
export const MOST_CONNECTIONS = 2_000;
/** Live connections of one caller: half of all. */
export const MOST_LIVE = 1_000;
/** How deep arrays and objects of a body may be nested. */
export const MOST_DEPTH = 40;

/**
 * How long connections to one origin may be idle and still be reused. It learns from requests that the server did not
 * take: sent over a reused connection that ended before the first byte of an answer, because the server or a proxy had
 * closed it without a warning. A single loss changes nothing. After 3 in the last 20 requests, a connection is reused
 * only if it was idle for less than half of the shortest idle time that ended with a loss. For a server that closes
 * after each answer, that means never. Knows no socket and decides nothing about one request: the client asks it, and
 * the engine repeats the request.
 */

const LAST_REQUESTS = 20;
const OFTEN = 3;
const WINDOW = 2 ** LAST_REQUESTS - 1;
/** A shorter idle time cannot be measured. */
const LEAST_REST_MS = 2;

export class ConnectionReuse {
  /** A connection that was idle for longer is not reused. 0: no connection is reused. */
  longestRestMs = Number.POSITIVE_INFINITY;
  /** A bit for each of the last requests, the newest lowest; 1 for a request that was not taken. */
  private lately = 0;
  private shortestFatalMs = Number.POSITIVE_INFINITY;

  /** A request was answered, or failed in another way. */
  taken(): void {
    if (this.lately !== 0) this.lately = (this.lately << 1) & WINDOW;
  }

  /** A request was not taken, on a connection that had been idle for `restMs`. */
  notTaken(restMs: number): void {
    this.lately = ((this.lately << 1) | 1) & WINDOW;
    this.shortestFatalMs = Math.min(this.shortestFatalMs, restMs);
    if (bitsOf(this.lately) < OFTEN) return;
    const halfMs = this.shortestFatalMs / 2;
    this.longestRestMs = halfMs < LEAST_REST_MS ? 0 : halfMs;
  }
}

function bitsOf(number: number): number {
  let bits = 0;
  for (let rest = number; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}

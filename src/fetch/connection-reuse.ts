/**
 * How long connections to one origin may rest and still be used again. It learns from requests that were not taken: sent
 * over a used connection that ended before a byte of answer, because the server or a proxy had closed it unannounced.
 * Seldom is no reason to change anything; after 3 in the last 20 requests a connection is used again only where it
 * rested less than half of the shortest rest that ended so, which for a server that closes after each answer is never.
 * It knows no socket and decides nothing about one request: the client asks it, and the engine repeats the request.
 */

const LAST_REQUESTS = 20;
const OFTEN = 3;
const WINDOW = 2 ** LAST_REQUESTS - 1;
/** A shorter rest cannot be told from none. */
const LEAST_REST_MS = 2;

export class ConnectionReuse {
  /** A connection that rested longer is not used again. 0: none is. */
  longestRestMs = Number.POSITIVE_INFINITY;
  /** A bit for each of the last requests, the newest lowest: 1 for one that was not taken. */
  private lately = 0;
  private shortestFatalMs = Number.POSITIVE_INFINITY;

  /** A request was answered, or failed otherwise. */
  taken(): void {
    if (this.lately !== 0) this.lately = (this.lately << 1) & WINDOW;
  }

  /** A request was not taken, over a connection that had rested for `restMs`. */
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

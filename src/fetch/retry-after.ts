/**
 * Reads Retry-After (RFC 9110 section 10.2.3): seconds or an HTTP date. It gives what the site asked for;
 * how long that is obeyed (a hostile year, for example) is politeness' decision, not made here.
 */
import { parseHttpDate } from '../parse/http-date.ts';

/** Milliseconds to wait from `nowMs`; 0 for a date gone by; null for what is neither seconds nor a date. */
export function retryAfterMs(value: string, nowMs: number): number | null {
  const text = value.trim();
  // Fractions are not in the standard; they are sent, and their meaning is plain.
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const dateMs = parseHttpDate(text, nowMs);
  return dateMs === null ? null : Math.max(0, dateMs - nowMs);
}

/**
 * Reads Retry-After (RFC 9110 section 10.2.3): seconds or an HTTP date. Returns what the site asked for. How long the
 * crawler obeys it (for example a hostile year) is decided in politeness.
 */
import { parseHttpDate } from '../parse/http-date.ts';

/** Milliseconds to wait from `nowMs`; 0 for a date in the past; null if it is neither seconds nor a date. */
export function retryAfterMs(value: string, nowMs: number): number | null {
  const text = value.trim();
  // Fractions are not in the standard, but servers send them, and the meaning is clear.
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const dateMs = parseHttpDate(text, nowMs);
  return dateMs === null ? null : Math.max(0, dateMs - nowMs);
}

/**
 * A header field that holds URLs (Location, Link), as text. This file alone decides what raw bytes beyond ASCII mean
 * there. Header values come as latin1, one character per byte. Each byte from 0x80 up is percent-encoded as sent, as
 * Chromium, curl and wget do: raw UTF-8 gives the same URL as a link in a UTF-8 page, and other bytes go back to the
 * server unchanged. Never throws.
 */

const BEYOND_ASCII = /[\x80-\xff]/;
const EACH_BEYOND_ASCII = /[\x80-\xff]/g;

/** `value` is the field as latin1: characters up to U+00FF. */
export function headerUrl(value: string): string {
  if (!BEYOND_ASCII.test(value)) return value;
  return value.replace(EACH_BEYOND_ASCII, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

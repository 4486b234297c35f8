/**
 * A header field that holds URLs (Location, Link), as text. The one place that decides what raw bytes beyond ASCII in such
 * a field mean. Header values come as latin1, one character per byte. Each byte from 0x80 up is percent-encoded as it
 * was sent, which is what Chromium, curl and wget request: raw UTF-8 gives the same URL as a link in a UTF-8 page,
 * and bytes that are not UTF-8 go back to the server unchanged. It never throws.
 */

const BEYOND_ASCII = /[\x80-\xff]/;
const EACH_BEYOND_ASCII = /[\x80-\xff]/g;

/** `value` is the field as latin1: characters up to U+00FF. */
export function headerUrl(value: string): string {
  if (!BEYOND_ASCII.test(value)) return value;
  return value.replace(EACH_BEYOND_ASCII, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

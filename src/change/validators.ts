/**
 * Conditional requests (RFC 9110 section 13): which validators of a server may be sent back to it. Pure.
 *
 * An ETag or date that does not have the form of the standard is never sent, because a server must not be able to put
 * any text into a request. Never decides whether a page is requested, or what an answer means.
 */
import type { LastVisit } from '../frontier/candidate.ts';
import { parseHttpDate } from '../parse/http-date.ts';

/** Longer ones help nobody. */
const MAX_ETAG_CHARS = 1024;
// Section 8.8.3, without obs-text: over HTTP/2 these bytes might not come back unchanged.
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/;

export function isEntityTag(text: string): boolean {
  return text.length <= MAX_ETAG_CHARS && ENTITY_TAG.test(text);
}

/**
 * Null for a date that says nothing: no HTTP date, a date after the visit that brought it, or of the same second, in
 * which the page may have changed once more (section 8.8.2.2).
 */
export function modifiedBefore(lastModified: string, visitedAt: number): number | null {
  const time = parseHttpDate(lastModified, visitedAt);
  return time !== null && time + 1000 <= visitedAt ? time : null;
}

/**
 * Apache's mod_deflate and mod_brotli add a suffix to the tag of a compressed answer, but compare the tags of a request
 * with the tag without it, so their own tag never matches. The tag without its suffix is sent, too.
 */
const COMPRESSED_TAG = /^((?:W\/)?".+)-(?:gzip|br|deflate|zstd)"$/;

function tagsToSend(etag: string): string {
  const compressed = COMPRESSED_TAG.exec(etag);
  return compressed === null ? etag : `${etag}, ${compressed[1]}"`;
}

/** Header fields of a conditional request; undefined if no validator is known. */
export function conditionsFor(last: LastVisit): Record<string, string> | undefined {
  const { etag, lastModified, visitedAt, hasBody, isGone } = last;
  // Without a stored body nothing can be unchanged. A page that was gone must be read completely.
  if (!hasBody || isGone) return undefined;
  const hasTag = etag !== null && isEntityTag(etag);
  const hasDate = lastModified !== null && modifiedBefore(lastModified, visitedAt) !== null;
  if (!hasTag && !hasDate) return undefined;
  const headers: Record<string, string> = {};
  if (hasTag) headers['if-none-match'] = tagsToSend(etag);
  if (hasDate) headers['if-modified-since'] = lastModified;
  return headers;
}

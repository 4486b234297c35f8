/**
 * Conditional requests (RFC 9110 section 13): which of a server's own words may be sent back to it. Pure.
 *
 * An ETag or date that is not of the form the standard gives is never sent: what stands in a request must not be
 * something a server could make up at will. Nothing here decides whether a page is asked, or what an answer means.
 */
import type { LastVisit } from '../frontier/candidate.ts';
import { parseHttpDate } from '../parse/http-date.ts';

/** Longer ones are no help to anybody. */
const MAX_ETAG_CHARS = 1024;
// Section 8.8.3, without obs-text: over HTTP/2 its bytes might not come back as they were.
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/;

export function isEntityTag(text: string): boolean {
  return text.length <= MAX_ETAG_CHARS && ENTITY_TAG.test(text);
}

/**
 * A date that says nothing is null: no HTTP date, later than the visit that brought it, or of the same second, in which
 * the page may have changed once more (section 8.8.2.2).
 */
export function modifiedBefore(lastModified: string, visitedAt: number): number | null {
  const time = parseHttpDate(lastModified, visitedAt);
  return time !== null && time + 1000 <= visitedAt ? time : null;
}

/**
 * Apache's mod_deflate and mod_brotli add a suffix to the tag of what they compress, but compare a request's tags with
 * the tag without it: alone the tag that they gave never matches. The tag without its suffix is sent beside it.
 */
const COMPRESSED_TAG = /^((?:W\/)?".+)-(?:gzip|br|deflate|zstd)"$/;

function tagsToSend(etag: string): string {
  const compressed = COMPRESSED_TAG.exec(etag);
  return compressed === null ? etag : `${etag}, ${compressed[1]}"`;
}

/** Header fields that ask “only if it changed”; undefined when nothing is known to ask by. */
export function conditionsFor(last: LastVisit): Record<string, string> | undefined {
  const { etag, lastModified, visitedAt, hasBody, isGone } = last;
  // Without a body of ours there is nothing that could be unchanged; what was gone is to be read whole.
  if (!hasBody || isGone) return undefined;
  const hasTag = etag !== null && isEntityTag(etag);
  const hasDate = lastModified !== null && modifiedBefore(lastModified, visitedAt) !== null;
  if (!hasTag && !hasDate) return undefined;
  const headers: Record<string, string> = {};
  if (hasTag) headers['if-none-match'] = tagsToSend(etag);
  if (hasDate) headers['if-modified-since'] = lastModified;
  return headers;
}

/** Where the header of a gzip member ends (RFC 1952 section 2.3). It reads bytes and unpacks nothing. */

const FHCRC = 2;
const FEXTRA = 4;
const FNAME = 8;
const FCOMMENT = 16;

/** Whether a gzip member begins here, with deflate, the only method that exists. */
export function beginsGzip(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x1f && bytes[at + 1] === 0x8b && bytes[at + 2] === 8;
}

/** Where the packed bytes begin, after the header that begins at `at`; null if the header has no end. */
export function gzipHeaderEnd(bytes: Uint8Array, at: number): number | null {
  const flags = bytes[at + 3];
  let end = at + 10;
  if (flags & FEXTRA) end += 2 + (bytes[end] | (bytes[end + 1] << 8));
  for (const field of [FNAME, FCOMMENT]) {
    if ((flags & field) === 0) continue;
    const zero = bytes.indexOf(0, end);
    if (zero < 0) return null;
    end = zero + 1;
  }
  if (flags & FHCRC) end += 2;
  return end <= bytes.length ? end : null;
}

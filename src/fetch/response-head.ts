/**
 * Reads the header fields the crawler uses straight from undici's raw name/value buffers.
 * Fields nobody asks for never become strings; values are latin1 (RFC 9110 section 5.5; Location and
 * Link as header-url.ts says); it never throws.
 */
import type { ResponseHead } from './fetcher.ts';
import { headerUrl } from './header-url.ts';

type TextField = Exclude<keyof ResponseHead, 'status' | 'contentLength'>;

const names: Record<string, TextField | 'contentLength'> = {
  age: 'age',
  etag: 'etag',
  date: 'date',
  link: 'link',
  expires: 'expires',
  location: 'location',
  'retry-after': 'retryAfter',
  'content-type': 'contentType',
  'x-robots-tag': 'xRobotsTag',
  'last-modified': 'lastModified',
  'cache-control': 'cacheControl',
  'content-length': 'contentLength',
  'content-encoding': 'contentEncoding',
};

interface NamedField {
  name: Buffer;
  field: TextField | 'contentLength';
}

/** By length of the name first: most fields of an answer are told apart without reading a letter. */
const fieldsByLength: NamedField[][] = [];
for (const [name, field] of Object.entries(names)) {
  fieldsByLength[name.length] ??= [];
  fieldsByLength[name.length].push({ name: Buffer.from(name), field });
}

/** A head that says nothing but its status. */
export function emptyHead(status: number): ResponseHead {
  return {
    status,
    contentType: null,
    contentLength: null,
    contentEncoding: null,
    location: null,
    etag: null,
    lastModified: null,
    cacheControl: null,
    retryAfter: null,
    date: null,
    expires: null,
    age: null,
    link: null,
    xRobotsTag: null,
  };
}

/** `encoding`: how text was made of the values; `utf8` where latin1 text was written again, see undici-handler.ts. */
export function readResponseHead(
  status: number,
  raw: Buffer[],
  encoding: 'latin1' | 'utf8' = 'latin1',
): ResponseHead {
  const head = emptyHead(status);
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const field = fieldNamed(raw[at]);
    if (field === null) continue;
    const value = raw[at + 1].toString(encoding).trim();
    if (field === 'contentLength') {
      if (/^\d{1,15}$/.test(value)) head.contentLength = Number(value);
      continue;
    }
    const before = head[field];
    if (before === null) head[field] = value;
    else if (field !== 'location') head[field] = `${before}, ${value}`;
  }
  if (head.location !== null) head.location = headerUrl(head.location);
  if (head.link !== null) head.link = headerUrl(head.link);
  return head;
}

function fieldNamed(name: Buffer): NamedField['field'] | null {
  const candidates = fieldsByLength[name.length];
  if (candidates === undefined) return null;
  for (const candidate of candidates) {
    let at = 0;
    // The bit folds letters to lower case and changes no other character that a field name may have into one here.
    while (at < name.length && (name[at] | 0x20) === candidate.name[at]) at += 1;
    if (at === name.length) return candidate.field;
  }
  return null;
}

/**
 * Reads the header fields that the crawler uses directly from undici's raw name/value buffers. Other fields never
 * become strings, unless all are wanted. Values are latin1 (RFC 9110 section 5.5; for Location and Link see header-url.ts). Never throws.
 */
import type { HeaderField, ResponseHead } from './fetcher.ts';
import { headerUrl } from './header-url.ts';

type TextField = Exclude<keyof ResponseHead, 'status' | 'contentLength' | 'fields'>;

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

/** By length of the name first: this decides most fields of an answer without reading a letter. */
const fieldsByLength: NamedField[][] = [];
for (const [name, field] of Object.entries(names)) {
  fieldsByLength[name.length] ??= [];
  fieldsByLength[name.length].push({ name: Buffer.from(name), field });
}

/** A head with nothing but a status. */
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
    fields: null,
  };
}

/** `encoding`: how values become text; `utf8` if latin1 text was encoded again, see undici-handler.ts. */
export function readResponseHead(
  status: number,
  raw: Buffer[],
  encoding: 'latin1' | 'utf8' = 'latin1',
  keepsFields = false,
): ResponseHead {
  const head = emptyHead(status);
  if (keepsFields) head.fields = fieldsOf(raw, encoding);
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

function fieldsOf(raw: Buffer[], encoding: 'latin1' | 'utf8'): HeaderField[] {
  const fields: HeaderField[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at].toString('latin1').toLowerCase();
    // The status of HTTP/2 is no field.
    if (!name.startsWith(':')) fields.push([name, raw[at + 1].toString(encoding).trim()]);
  }
  return fields;
}

function fieldNamed(name: Buffer): NamedField['field'] | null {
  const candidates = fieldsByLength[name.length];
  if (candidates === undefined) return null;
  for (const candidate of candidates) {
    let at = 0;
    // The bit makes letters lower case, and changes no other character of a field name into one of these.
    while (at < name.length && (name[at] | 0x20) === candidate.name[at]) at += 1;
    if (at === name.length) return candidate.field;
  }
  return null;
}

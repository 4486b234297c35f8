/**
 * Finds the end of a raw text element (script, style, title, textarea and the like), by the tokenizer states of the
 * HTML standard 13.2.5.2-4. The two finders return the offset of the `<` of the end tag, or `end` if there is none. The
 * byte at `end` must be 0.
 */

const LESS_THAN = 0x3c;
const SLASH = 0x2f;
const DASH = 0x2d;
const GREATER_THAN = 0x3e;

/** True if the bytes at `at` are `name` (in lower case), followed by a byte that ends a tag name. */
function isNameAt(bytes: Uint8Array, at: number, end: number, name: Uint8Array): boolean {
  const after = at + name.length;
  if (after >= end) return false;
  for (let i = 0; i < name.length; i++) if ((bytes[at + i] | 32) !== name[i]) return false;
  const byte = bytes[after];
  return (
    byte === 0x20 ||
    byte === 0x0a ||
    byte === 0x09 ||
    byte === 0x0c ||
    byte === 0x0d ||
    byte === 0x2f ||
    byte === 0x3e
  );
}

/** Raw content is long and has few `<`: the native search is many times faster than a loop. */
const indexOf = Buffer.prototype.indexOf;

function findLessThan(bytes: Uint8Array, from: number, end: number): number {
  const at = indexOf.call(bytes, LESS_THAN, from);
  return at < 0 || at > end ? end : at;
}

export function findRawEnd(bytes: Uint8Array, from: number, end: number, name: Uint8Array): number {
  for (let p = findLessThan(bytes, from, end); p < end; p = findLessThan(bytes, p + 1, end)) {
    if (bytes[p + 1] === SLASH && isNameAt(bytes, p + 2, end, name)) return p;
  }
  return end;
}

const SCRIPT = Buffer.from('script');

/** Script content may hold `<!-- <script> … </script> -->`, whose inner end tag does not count. */
export function findScriptEnd(bytes: Uint8Array, from: number, end: number): number {
  let isEscaped = false;
  let isDoubleEscaped = false;
  for (
    let p = findLessThan(bytes, from, end);
    p < end;
    p = isEscaped ? p + 1 : findLessThan(bytes, p + 1, end)
  ) {
    const byte = bytes[p];
    if (byte === LESS_THAN) {
      const next = bytes[p + 1];
      if (next === SLASH && isNameAt(bytes, p + 2, end, SCRIPT)) {
        if (!isDoubleEscaped) return p;
        isDoubleEscaped = false;
      } else if (!isEscaped) {
        if (next === 0x21 && bytes[p + 2] === DASH && bytes[p + 3] === DASH) {
          isEscaped = true;
          // The two dashes may already belong to `-->`.
          p += 1;
        }
      } else if (!isDoubleEscaped && isNameAt(bytes, p + 1, end, SCRIPT)) {
        isDoubleEscaped = true;
      }
    } else if (isEscaped && byte === GREATER_THAN && bytes[p - 1] === DASH && bytes[p - 2] === DASH) {
      isEscaped = false;
      isDoubleEscaped = false;
    }
  }
  return end;
}

const CDATA_OPEN = Buffer.from('[CDATA[');

/** True if a CDATA section begins at `at`, after its `<!`. */
export function isCdata(bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < CDATA_OPEN.length; i++) if (bytes[at + i] !== CDATA_OPEN[i]) return false;
  return true;
}

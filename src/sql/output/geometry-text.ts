/** GEOMETRY as DuckDB casts it to text (WKT); the driver gives its bytes (WKB, little-endian, in ISO's numbering). */
import { doubleText } from './number-text.ts';

const NAMES = [
  '',
  'POINT',
  'LINESTRING',
  'POLYGON',
  'MULTIPOINT',
  'MULTILINESTRING',
  'MULTIPOLYGON',
  'GEOMETRYCOLLECTION',
];
/** Thousands of the type: which numbers a vertex has besides x and y. */
const MORE_NUMBERS = ['', 'Z', 'M', 'ZM'];
const EMPTY = 'EMPTY';
const [POINT, LINESTRING, POLYGON, COLLECTION] = [1, 2, 3, 7];

export function geometryText(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;

  function count(): number {
    at += 4;
    return view.getUint32(at - 4, true);
  }

  function listed(item: () => string): string {
    const items = Array.from({ length: count() }, item);
    return items.length === 0 ? EMPTY : `(${items.join(', ')})`;
  }

  function vertex(numbers: number): string {
    const read = Array.from({ length: numbers }, () => {
      at += 8;
      return view.getFloat64(at - 8, true);
    });
    return read.every(Number.isNaN) ? EMPTY : read.map((n) => doubleText(n).replace(/\.0$/, '')).join(' ');
  }

  function parts(kind: number, numbers: number): string {
    switch (kind) {
      case POINT: {
        const only = vertex(numbers);
        return only === EMPTY ? EMPTY : `(${only})`;
      }
      case LINESTRING:
        return listed(() => vertex(numbers));
      case POLYGON:
        return listed(() => listed(() => vertex(numbers)));
      default:
        return listed(() => geometry(kind !== COLLECTION, kind));
    }
  }

  /** The members of a MULTI… have no names, and points there no brackets. */
  function geometry(isMember: boolean, parent: number): string {
    at += 1;
    const type = count();
    const kind = type % 1000;
    const more = MORE_NUMBERS[Math.floor(type / 1000)] ?? '';
    const text = parts(kind, 2 + more.length);
    if (isMember) return parent === POINT + 3 && text !== EMPTY ? text.slice(1, -1) : text;
    return [NAMES[kind] ?? 'GEOMETRY', ...(more === '' ? [] : [more]), text].join(' ');
  }

  return geometry(false, 0);
}

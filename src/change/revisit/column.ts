/**
 * Typed arrays that grow by an eighth, one column at a time, so that ten million pages never need twice their memory.
 */

export type Column = Float64Array | Float32Array | Uint32Array | Uint16Array | Uint8Array;

/** The number of rows to allocate, so that `needed` fit and few copies are made. */
export function roomFor(needed: number, room: number): number {
  return needed <= room ? room : Math.max(needed, room + (room >>> 3), 64);
}

/** The column with space for `rows`; its values stay at the start. */
export function grown<T extends Column>(column: T, rows: number): T {
  if (rows <= column.length) return column;
  const larger = new (column.constructor as new (length: number) => T)(rows);
  larger.set(column);
  return larger;
}

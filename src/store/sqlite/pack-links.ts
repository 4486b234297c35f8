/**
 * Links packed as text that plain SQL unpacks: a JSON array of page ids, and a JSON array of flags when any is set.
 * Written digit by digit into one reused buffer, because joining 80 numbers as strings costs more than storing them.
 */
let buffer = Buffer.allocUnsafe(16 * 1024);

/** The JSON array of the numbers, as UTF-8 bytes in a reused buffer: bind it before the next call. */
export function packNumbers(numbers: ArrayLike<number>, count: number): Buffer {
  if (buffer.length < count * 11 + 2) buffer = Buffer.allocUnsafe(count * 11 * 2);
  let at = 0;
  buffer[at++] = 0x5b;
  for (let i = 0; i < count; i++) {
    if (i > 0) buffer[at++] = 0x2c;
    at = writeDigits(numbers[i], at);
  }
  buffer[at++] = 0x5d;
  return buffer.subarray(0, at);
}

/** Null when no flag is set, as on most pages. */
export function packFlags(flags: Uint8Array, count: number): string | null {
  for (let i = 0; i < count; i++) {
    if (flags[i] !== 0) return `[${flags.subarray(0, count).join(',')}]`;
  }
  return null;
}

export function unpackNumbers(json: string): number[] {
  return JSON.parse(json) as number[];
}

function writeDigits(value: number, at: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  let rest = value;
  for (let i = at + digits - 1; i >= at; i--) {
    const next = Math.floor(rest / 10);
    buffer[i] = 0x30 + (rest - next * 10);
    rest = next;
  }
  return at + digits;
}

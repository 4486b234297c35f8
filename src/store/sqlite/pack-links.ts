/**
 * Links packed as text that plain SQL unpacks: a JSON array of page ids, and a JSON array of flags when any is set.
 * Written digit by digit into one reused buffer, because joining 80 numbers as strings costs more than storing them.
 */
import { type LinkTargets, UNFOLLOWED } from '../port.ts';

const NOFOLLOW = 1;

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

/** Open-addressed marks of the ids seen on the page at hand: `round` makes clearing free. */
let marks = new Float64Array(4096);
let places = new Int32Array(4096);
let round = 0;
const MAX_ROUND = 2 ** 20;

/** Drops targets that stand twice, in place; a target with one followed link is followed. Answers the new count. */
export function dropRepeats(links: LinkTargets): number {
  const { targets, flags, anchors } = links;
  if (links.count * 2 > marks.length) {
    marks = new Float64Array(links.count * 4);
    places = new Int32Array(links.count * 4);
  }
  if (++round === MAX_ROUND) {
    marks.fill(0);
    round = 1;
  }
  const size = marks.length;
  let kept = 0;
  for (let i = 0; i < links.count; i++) {
    const id = targets[i];
    // Round and id in one number: exact below 2^53, and never equal to a mark of an earlier page.
    const mark = round * 0x1_0000_0000 + id;
    let slot = Math.imul(id, 0x9e3779b1) >>> 0;
    slot %= size;
    while (marks[slot] !== mark && marks[slot] >= round * 0x1_0000_0000)
      slot = slot + 1 === size ? 0 : slot + 1;
    if (marks[slot] === mark) {
      if (!(flags[i] & NOFOLLOW)) flags[places[slot]] &= ~(NOFOLLOW | UNFOLLOWED);
      continue;
    }
    marks[slot] = mark;
    places[slot] = kept;
    targets[kept] = id;
    flags[kept] = flags[i];
    if (anchors !== null) anchors[kept] = anchors[i];
    kept++;
  }
  if (anchors !== null) anchors.length = kept;
  links.count = kept;
  return kept;
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

/** A page's links stand once a target: the one rule, for every adapter, without making an object a link. */
import { type LinkTargets, UNFOLLOWED } from './settlement.ts';

const NOFOLLOW = 1;

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

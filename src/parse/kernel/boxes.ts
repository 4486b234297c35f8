/** The elements that stand for a part of the page and are open: counts the tags inside that tell where they end. */

import { BOX_COUNT, BOX_DEPTHS, BOX_HASHES } from '../kernel-layout';
import { get, set } from './state';

/** At a tag that boxes are watched for. Answers which of them it ends, a bit each. */
export function endBoxes(watched: i32, id: i32, hash: i32, isEnd: i32): i32 {
  let ended: i32 = 0;
  for (let box = 0; box < BOX_COUNT; box++) {
    const depth = get(BOX_DEPTHS + box);
    if (((watched >> box) & 1) !== 0) {
      // Names that have no id share one.
      if (id === 0 && hash !== get(BOX_HASHES + box)) continue;
      const now = isEnd !== 0 ? depth - 1 : depth + 1;
      set(BOX_DEPTHS + box, now);
      if (now === 0) ended |= 1 << box;
    } else if (((watched >> (BOX_COUNT + box)) & 1) !== 0 && depth === 1) {
      ended |= 1 << box;
    }
  }
  return ended;
}

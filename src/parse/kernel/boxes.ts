/** The open elements that are a separate part of the page: counts the tags inside that show where they end. */

import { BOX_COUNT, BOX_DEPTHS, BOX_HASHES } from '../kernel-layout';
import { get, set } from './state';

/** At a tag for which boxes are watched. Returns the boxes that it ends, one bit each. */
export function endBoxes(watched: i32, id: i32, hash: i32, isEnd: i32): i32 {
  let ended: i32 = 0;
  for (let box = 0; box < BOX_COUNT; box++) {
    const depth = get(BOX_DEPTHS + box);
    if (((watched >> box) & 1) !== 0) {
      // All names without an id share one.
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

/** Which domain is under the pointer: squares of the map with the domains in them, so that few must be checked. */
import type { PageData } from '../page-data.ts';

const SIDE = 32;
const ROW = 1 << 16;

export function createHitGrid({ x, y, radius }: Pick<PageData, 'x' | 'y' | 'radius'>) {
  const squares = new Map<number, number[]>();
  const square = (value: number) => Math.floor(value / SIDE);
  for (let at = 0; at < x.length; at++) {
    for (let row = square(y[at] - radius[at]); row <= square(y[at] + radius[at]); row++) {
      for (let column = square(x[at] - radius[at]); column <= square(x[at] + radius[at]); column++) {
        const found = squares.get(row * ROW + column);
        if (found === undefined) squares.set(row * ROW + column, [at]);
        else found.push(at);
      }
    }
  }

  /** The nearest visible domain whose rim is at most `reach` away; -1 for none. */
  return function domainAt(mapX: number, mapY: number, reach: number, visible: Uint8Array): number {
    let best = -1;
    let least = reach;
    for (let row = square(mapY - reach); row <= square(mapY + reach); row++) {
      for (let column = square(mapX - reach); column <= square(mapX + reach); column++) {
        for (const at of squares.get(row * ROW + column) ?? []) {
          const distance = Math.hypot(x[at] - mapX, y[at] - mapY) - radius[at];
          if (visible[at] === 1 && distance < least) [best, least] = [at, distance];
        }
      }
    }
    return best;
  };
}

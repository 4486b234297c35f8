/** Which ground is covered by circles, in squares, so that the question "is it free here?" checks few of them. */
export interface Ground {
  take(x: number, y: number, radius: number): void;
  isFree(x: number, y: number, radius: number): boolean;
}

const ROW = 1 << 16;

export function createGround(side: number): Ground {
  const squares = new Map<number, number[]>();
  const circles: { x: number; y: number; radius: number }[] = [];

  const first = (value: number, radius: number) => Math.floor((value - radius) / side);
  const last = (value: number, radius: number) => Math.floor((value + radius) / side);

  function take(x: number, y: number, radius: number): void {
    const own = circles.push({ x, y, radius }) - 1;
    for (let row = first(y, radius); row <= last(y, radius); row++) {
      for (let column = first(x, radius); column <= last(x, radius); column++) {
        const square = squares.get(row * ROW + column);
        if (square === undefined) squares.set(row * ROW + column, [own]);
        else square.push(own);
      }
    }
  }

  function isFree(x: number, y: number, radius: number): boolean {
    for (let row = first(y, radius); row <= last(y, radius); row++) {
      for (let column = first(x, radius); column <= last(x, radius); column++) {
        for (const at of squares.get(row * ROW + column) ?? []) {
          const other = circles[at];
          if ((other.x - x) ** 2 + (other.y - y) ** 2 < (other.radius + radius) ** 2) return false;
        }
      }
    }
    return true;
  }

  return { take, isFree };
}

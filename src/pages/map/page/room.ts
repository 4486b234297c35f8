/** Which part of the screen is still free, in small squares: a box takes those whose middle it covers. */
export interface Room {
  /** False also outside of the screen. */
  isFree(left: number, top: number, width: number, height: number): boolean;
  take(left: number, top: number, width: number, height: number): void;
}

const SIDE = 4;

export function createRoom(width: number, height: number): Room {
  const columns = Math.ceil(width / SIDE);
  const rows = Math.ceil(height / SIDE);
  const taken = new Uint8Array(columns * rows);
  const first = (value: number) => Math.round(value / SIDE);

  function someTaken(left: number, top: number, right: number, bottom: number): boolean {
    for (let row = top; row < bottom; row++) {
      for (let column = left; column < right; column++) if (taken[row * columns + column] === 1) return true;
    }
    return false;
  }

  return {
    isFree(left, top, w, h) {
      if (left < 0 || top < 0 || left + w > width || top + h > height) return false;
      return !someTaken(first(left), first(top), first(left + w), first(top + h));
    },
    take(left, top, w, h) {
      const end = Math.min(columns, first(left + w));
      for (let row = Math.max(0, first(top)); row < Math.min(rows, first(top + h)); row++) {
        const start = Math.min(Math.max(0, first(left)), end);
        taken.fill(1, row * columns + start, row * columns + Math.max(start, end));
      }
    },
  };
}

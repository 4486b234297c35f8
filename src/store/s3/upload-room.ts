/** How much may be on its way at once: so many bodies, so many bytes. First come, first served. */
export interface UploadRoom {
  /** Null when the place is taken at once; otherwise resolves when it is. */
  enter(bytes: number): Promise<void> | null;
  leave(bytes: number): void;
  /** What was entered takes less by now. */
  shrink(bytes: number): void;
}

export function createUploadRoom(mostBodies: number, mostBytes: number): UploadRoom {
  let bodies = 0;
  let held = 0;
  const waiting: { bytes: number; enter: () => void }[] = [];

  // One body alone may be larger than the room, else it could never go.
  const fits = (bytes: number) => bodies === 0 || (bodies < mostBodies && held + bytes <= mostBytes);

  function take(bytes: number): void {
    bodies++;
    held += bytes;
  }

  function admit(): void {
    while (waiting.length > 0 && fits(waiting[0].bytes)) {
      const { bytes, enter } = waiting.shift()!;
      take(bytes);
      enter();
    }
  }

  return {
    enter(bytes) {
      if (waiting.length === 0 && fits(bytes)) {
        take(bytes);
        return null;
      }
      return new Promise((resolve) => waiting.push({ bytes, enter: resolve }));
    },
    leave(bytes) {
      bodies--;
      held -= bytes;
      admit();
    },
    shrink(bytes) {
      held -= bytes;
      admit();
    },
  };
}

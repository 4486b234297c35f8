/**
 * Turns for long work: a few at once, so that short questions always find room. One asker has all but one of them at most, and
 * whoever has the fewest is next: nobody waits for one that asks without end. Who leaves while waiting loses the turn.
 */
/** Resolves when it is one's turn; call what it answers when the work is over. */
export type TakeTurn = (signal: AbortSignal, asker: string) => Promise<() => void>;

export function createTurns(mostAtOnce: number): TakeTurn {
  const mostOfOne = Math.max(1, mostAtOnce - 1);
  let underWay = 0;
  /** Turns by asker. */
  const taken = new Map<string, number>();
  const waiting = new Set<{ asker: string; go: () => void }>();

  const takenBy = (asker: string) => taken.get(asker) ?? 0;
  const mayGo = (asker: string) => underWay < mostAtOnce && takenBy(asker) < mostOfOne;

  function begin(asker: string): void {
    underWay++;
    taken.set(asker, takenBy(asker) + 1);
  }

  function end(asker: string): void {
    underWay--;
    const left = takenBy(asker) - 1;
    if (left === 0) taken.delete(asker);
    else taken.set(asker, left);
    // In the order in which they came, where they have equally many.
    const [next] = [...waiting]
      .filter((one) => mayGo(one.asker))
      .sort((a, b) => takenBy(a.asker) - takenBy(b.asker));
    next?.go();
  }

  function waitForTurn(signal: AbortSignal, asker: string): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const leave = () => {
        waiting.delete(waiter);
        reject(signal.reason);
      };
      const waiter = {
        asker,
        go() {
          waiting.delete(waiter);
          signal.removeEventListener('abort', leave);
          begin(asker);
          resolve();
        },
      };
      waiting.add(waiter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  return async (signal, asker) => {
    signal.throwIfAborted();
    if (mayGo(asker)) begin(asker);
    else await waitForTurn(signal, asker);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      end(asker);
    };
  };
}

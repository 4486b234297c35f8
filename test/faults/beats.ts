// A heart that beats in every turn of this process's event loop, but at most every few milliseconds. What arrived while
// a turn was under way is only seen in the next one: a judge that counts beats does not take its own delay for somebody
// else's haste.
const EVERY_MS = 4;

export interface Beats {
  /**
   * The earliest moment (performance.now) at which something can have arrived that was seen at `atMs`, after it had to
   * wait for so many turns: one for data, one more where the connection had to be accepted first.
   */
  earliest(atMs: number, turns: number): number;
}

/** For each request of a server's log, in its order, the earliest moment at which it can have arrived. */
export function earliestArrivals(
  log: readonly { host: number; atMs: number; remotePort: number }[],
  beats: Beats,
): number[] {
  const connections = new Set<string>();
  return log.map(({ host, atMs, remotePort }) => {
    const connection = `${host} ${remotePort}`;
    const turns = connections.has(connection) ? 1 : 2;
    connections.add(connection);
    return beats.earliest(atMs, turns);
  });
}

export function startBeats(): Beats {
  const times: number[] = [performance.now()];
  setInterval(() => times.push(performance.now()), EVERY_MS).unref();
  return {
    earliest(atMs, turns) {
      let [low, high] = [0, times.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (times[middle] <= atMs) low = middle + 1;
        else high = middle;
      }
      return times[Math.max(0, low - 1 - turns)];
    },
  };
}

/** What start URLs answered, by name, for whoever waits for it; `onWait` hears that somebody does. */
export function createAwaited<Value>(none: Value, onWait: () => void) {
  const known = new Map<string, Value>();
  const waiting = new Map<string, (value: Value) => void>();
  return {
    of: (name: string): Promise<Value> =>
      new Promise((resolve) => {
        const value = known.get(name);
        if (value !== undefined) return resolve(value);
        waiting.set(name, resolve);
        onWait();
      }),
    /** The first one counts. */
    see(name: string, value: Value): void {
      if (known.has(name)) return;
      known.set(name, value);
      waiting.get(name)?.(value);
      waiting.delete(name);
    },
    /** Nothing more is read. */
    giveUp(): void {
      for (const resolve of waiting.values()) resolve(none);
      waiting.clear();
    },
  };
}

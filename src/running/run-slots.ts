/** A part of the shared requests for one run: it has no more open than its project allows, and no more than all runs share. */
import { createSlots, type Slots } from '../crawl/run/slots.ts';

export function limitSlots(shared: Slots, most: number | null): Slots {
  if (most === null || most >= shared.total) return shared;
  const own = createSlots(most);
  return {
    total: most,
    get free() {
      return Math.min(own.free, shared.free);
    },
    take() {
      own.take();
      shared.take();
    },
    give() {
      shared.give();
      own.give();
    },
    onFree(listener) {
      const ends = [own.onFree(listener), shared.onFree(listener)];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

/** How many live connections one caller may hold: those of all callers together are limited, and others find room. */
import { sumiError } from '../../errors.ts';

export interface LiveShares {
  /** Refused where the caller holds its share; call what it answers when the connection is over. */
  take(key: string): () => void;
}

const AGAIN_AFTER_SECONDS = 30;

export function createLiveShares(most: number): LiveShares {
  const held = new Map<string, number>();
  return {
    take(key) {
      const before = held.get(key) ?? 0;
      if (before >= most) throw sumiError('too-many-requests', { seconds: AGAIN_AFTER_SECONDS });
      held.set(key, before + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const left = (held.get(key) ?? 1) - 1;
        if (left === 0) held.delete(key);
        else held.set(key, left);
      };
    },
  };
}

/**
 * What of a run may be done now, where somebody spends a budget on it: so many pages of each host. The limit of all pages
 * is `max-pages`, as for any run.
 */
import type { LoopEnd } from '../run-crawl.ts';

export interface RunRoom {
  /** Pages that may be asked of a host from now on, by the store's id. */
  hostPages: (hostId: number) => number;
  /** Hosts that did not answer the last time: they are not waited for. */
  isSilent?: (hostId: number) => boolean;
  /** A host that is to be left alone for longer than this is given up for the run; else it is waited for. */
  patienceMs?: number;
  /** A run that ends so waits for more room, as an interrupted one; else what waits is left out. */
  pausesAt: readonly LoopEnd[];
}

export interface HostRooms {
  isSpent(hostId: number): boolean;
  take(hostId: number): void;
  giveBack(hostId: number): void;
}

const UNLIMITED: HostRooms = { isSpent: () => false, take() {}, giveBack() {} };

export function createHostRooms(room: RunRoom | null): HostRooms {
  if (room === null) return UNLIMITED;
  const left = new Map<number, number>();
  const leftOf = (hostId: number) => left.get(hostId) ?? room.hostPages(hostId);
  return {
    isSpent(hostId) {
      if (!left.has(hostId)) left.set(hostId, leftOf(hostId));
      return leftOf(hostId) < 1;
    },
    take: (hostId) => void left.set(hostId, leftOf(hostId) - 1),
    giveBack: (hostId) => void left.set(hostId, leftOf(hostId) + 1),
  };
}

/**
 * How much a run may do now where somebody spends a budget on it: how many pages it may request of each host. The limit of
 * all pages is `max-pages`, as for any run.
 */
import type { LoopEnd } from './loop-end.ts';

export interface HostAllowance {
  /** How many pages the run may request of a host from now on. Hosts are named by the store's id. */
  hostPages: (hostId: number) => number;
  /** True for a host that did not answer the last time. The run does not wait for it. */
  isSilent?: (hostId: number) => boolean;
  /** A host that asks for a longer pause than this is given up for the run. Without it the run waits for any pause. */
  patienceMs?: number;
  /** Asked once, when nothing waits and permits are left: ids of known pages to visit besides. */
  furtherPages?: (run: IdleRun) => Promise<readonly number[]>;
  /** A run that ends for one of these reasons is left as an interrupted one. Otherwise the pages that wait are left out. */
  pausesAt: readonly LoopEnd[];
}

/** A run that has nothing to visit. */
export interface IdleRun {
  /** By the store's clock. */
  now: number;
  /** How many pages it may still request of a host. */
  left: (hostId: number) => number;
}

/** What is left of each host's allowance. */
export interface HostPermits {
  isSpent(hostId: number): boolean;
  left(hostId: number): number;
  take(hostId: number): void;
  giveBack(hostId: number): void;
}

const UNLIMITED: HostPermits = {
  isSpent: () => false,
  left: () => Number.POSITIVE_INFINITY,
  take() {},
  giveBack() {},
};

export function createHostPermits(allowance: HostAllowance | null): HostPermits {
  if (allowance === null) return UNLIMITED;
  const left = new Map<number, number>();
  const leftOf = (hostId: number) => left.get(hostId) ?? allowance.hostPages(hostId);
  return {
    isSpent(hostId) {
      if (!left.has(hostId)) left.set(hostId, leftOf(hostId));
      return leftOf(hostId) < 1;
    },
    left: leftOf,
    take: (hostId) => void left.set(hostId, leftOf(hostId) - 1),
    giveBack: (hostId) => void left.set(hostId, leftOf(hostId) + 1),
  };
}

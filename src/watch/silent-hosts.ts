/**
 * Hosts that gave no answer, by the store's ids. A host is silent if a run sent requests to it and got no answer at all:
 * one page without an answer, beside others with answers, is a matter of that page. Its first answer ends the silence.
 * Learned from visits run by run, and saved with the plan. Learning a run twice changes nothing.
 */
import type { VisitRowBrief } from '../store/read-side.ts';

/** By host: since when it is silent, the last run without an answer, and the number of such runs. */
export type SavedSilence = Record<string, readonly [since: number, run: number, runs: number]>;

interface Silence {
  since: number;
  run: number;
  runs: number;
}

export class SilentHosts {
  readonly #silent = new Map<number, Silence>();
  /** The last learned run in which a host answered. */
  readonly #answeredIn = new Map<number, number>();

  constructor(saved: SavedSilence = {}) {
    for (const [id, [since, run, runs]] of Object.entries(saved))
      this.#silent.set(Number(id), { since, run, runs });
  }

  get count(): number {
    return this.#silent.size;
  }

  has(hostId: number): boolean {
    return this.#silent.has(hostId);
  }

  /** Returns since when the host was silent, if this visit ends a silence of more than one run. */
  hear({ hostId, run, visitedAt, knownBy, statusCode }: VisitRowBrief): number | null {
    if (statusCode === null) {
      // Other visits without a status sent no request.
      if (knownBy === 'network') this.fallSilent(hostId, run, visitedAt);
      return null;
    }
    this.#answeredIn.set(hostId, run);
    const silence = this.#silent.get(hostId);
    if (silence === undefined || silence.run > run) return null;
    this.#silent.delete(hostId);
    // In a single run, the only page may have been one that never answers: its failures stay.
    return silence.runs > 1 ? silence.since : null;
  }

  fallSilent(hostId: number, run: number, at: number): void {
    if ((this.#answeredIn.get(hostId) ?? -1) >= run) return;
    const silence = this.#silent.get(hostId);
    if (silence === undefined) this.#silent.set(hostId, { since: at, run, runs: 1 });
    else if (silence.run < run) Object.assign(silence, { run, runs: silence.runs + 1 });
  }

  save(): SavedSilence {
    return Object.fromEntries(
      [...this.#silent].map(([id, { since, run, runs }]) => [id, [since, run, runs]]),
    );
  }
}

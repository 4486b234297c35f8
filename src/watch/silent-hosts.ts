/**
 * Hosts that did not answer when they were last asked, by the store's ids. A host is silent when a run asked it and got no
 * answer at all: one page that never answers, beside others that do, is a matter of that page. It is heard again
 * with its first answer. Learned from visits run by run, and kept with the plan; learning a run twice changes nothing.
 */
import type { VisitRowBrief } from '../store/read-side.ts';

/** By host: when it fell silent, the last run that found it so, and how many did. */
export type SavedSilence = Record<string, readonly [since: number, run: number, runs: number]>;

interface Silence {
  since: number;
  run: number;
  runs: number;
}

export class SilentHosts {
  readonly #silent = new Map<number, Silence>();
  /** The last run in which a host answered, of those that were learned here. */
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

  /** Answers since when the host was silent, where this visit says that it is heard again after more than one run. */
  hear({ hostId, run, visitedAt, knownBy, statusCode }: VisitRowBrief): number | null {
    if (statusCode === null) {
      // Without a status, others are of pages that nobody was asked for.
      if (knownBy === 'network') this.fallSilent(hostId, run, visitedAt);
      return null;
    }
    this.#answeredIn.set(hostId, run);
    const silence = this.#silent.get(hostId);
    if (silence === undefined || silence.run > run) return null;
    this.#silent.delete(hostId);
    // One look may have met nothing but a page that never answers: what is known of that is no matter of the host.
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

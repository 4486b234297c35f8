/**
 * How a run visits known pages: as its option says, or, in smart mode, as a random sample of them decides. The sample
 * goes first and is visited like every other page, so nothing of it is fetched twice; until it has spoken pages are
 * requested conditionally. It is heard in the order of its requests: of many pages on their way, those that did not
 * change answer first. The decision is the run's: it is kept in the store, for who goes on with the run or takes part.
 */
import {
  createModeTest,
  explainMode,
  likelierMode,
  type ModeTest,
  type ModeTestOptions,
} from '../../change/choose-mode.ts';
import type { VisitOutcome } from '../../change/visit-record.ts';
import type { EventHub } from '../../events/event-hub.ts';
import { type Claim, SAMPLE_PRIORITY } from '../../frontier/candidate.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { KnownPage, Revision } from '../../store/frontier-port.ts';
import type { CrawlMode, ModeDecision, RunPort, RunStart } from '../../store/run-port.ts';
import type { RunStore } from '../../store/store-port.ts';
import type { Crew } from '../run/crew.ts';

/** Others may have decided meanwhile: read at most so often. */
const ASK_EVERY_MS = 2000;
const SAMPLE_PLACES = 1_000_000;
/** More pages go first than the sample may need, because chance chooses them and some will fail. */
const drawnFor = (sample: number) => sample + 4 * Math.sqrt(sample) + 10;

export interface RunModeOptions extends ModeTestOptions {
  wanted: CrawlMode | 'smart';
  /** The most pages of the sample. */
  sample: number;
  store: Pick<RunStore, 'clock'> & { run: Pick<RunPort, 'decideMode'> };
  crew: Pick<Crew, 'othersMayHaveMore'>;
  events: Pick<EventHub, 'emit'>;
  random: () => number;
}

export interface RunMode {
  /** Null while the sample has not decided. */
  readonly mode: CrawlMode | null;
  /** Why, in words; null while there is no decision. */
  readonly reason: string | null;
  /** Before known pages are judged. */
  open(start: RunStart): Promise<void>;
  /** The verdict on a known page of a new run: pages that are gone for good rest, those of the sample go first. */
  revise(row: KnownPage, revision: Revision | null): Revision | null;
  /** A page is requested; more than once where one request does not decide. */
  expect(claim: Claim): void;
  /** Its visit is over; null where it tells nothing. */
  observe(claim: Claim, outcome: VisitOutcome | null): Promise<void>;
  /** The run is over: every page was visited, or as many as it may. */
  close(why: 'all pages were visited' | 'the run had its pages'): Promise<void>;
}

/** Its server said that it will not come back (410). A 404 may be an accident of a day, and a start URL is wanted anyhow. */
function isGoneForGood({ state, reason, depth }: KnownPage): boolean {
  return state === PAGE_STATES.Gone && reason === 'http: 410' && depth > 0;
}

export function createRunMode(options: RunModeOptions): RunMode {
  const { wanted, store, crew, events, random } = options;
  const test: ModeTest = createModeTest(options);
  let decision: ModeDecision | null = wanted === 'smart' ? null : { mode: wanted, reason: `mode ${wanted}` };
  /** Pages of the sample that were requested and not heard yet, and what is known of them; undefined while on their way. */
  const sampled = new Map<number, VisitOutcome | null | undefined>();
  let share = 0;
  let isAsking = false;
  let askedAt = store.clock.monotonic();

  function take(found: ModeDecision): void {
    decision = found;
    events.emit({ type: 'mode', mode: found.mode, reason: found.reason });
  }

  async function decide(mode: CrawlMode, reason: string): Promise<void> {
    take((await store.run.decideMode({ mode, reason: `smart: ${mode}, ${reason}` }))!);
  }

  async function askOthers(): Promise<void> {
    askedAt = store.clock.monotonic();
    const found = await store.run.decideMode(null);
    if (found !== null) take(found);
  }

  function hear(): void {
    for (const [pageId, outcome] of sampled) {
      if (outcome === undefined || test.sampled >= options.sample) return;
      sampled.delete(pageId);
      if (outcome !== null && outcome !== 'failed' && outcome !== 'new')
        test.observe(outcome !== 'unchanged');
    }
  }

  return {
    get mode() {
      return decision?.mode ?? null;
    },
    get reason() {
      return decision?.reason ?? null;
    },
    async open(start) {
      if (decision !== null) {
        // Who goes on with a run, or takes part, visits its pages as they were visited so far.
        const found = (await store.run.decideMode(decision))!;
        if (found.mode !== decision.mode) take(found);
        return;
      }
      await askOthers();
      if (decision !== null) return;
      if (start.knownUrls === 0) await decide('full', 'no page is known yet');
      else share = Math.min(1, drawnFor(options.sample) / start.knownUrls);
    },
    revise(row, revision) {
      if (revision === null || revision.keepsState || wanted === 'full') return revision;
      // Only where it stands may be new.
      if (isGoneForGood(row)) return { ...revision, keepsState: true };
      const isSampled =
        decision === null && row.wasRead && revision.state === PAGE_STATES.Queued && random() < share;
      // In an order of its own: the pages that were found first are the site's front, and change like it.
      const priority = SAMPLE_PRIORITY - Math.floor(random() * SAMPLE_PLACES);
      return isSampled ? { ...revision, priority } : revision;
    },
    expect({ pageId, priority }) {
      if (decision === null && priority <= SAMPLE_PRIORITY) sampled.set(pageId, undefined);
    },
    async observe({ pageId }, outcome) {
      if (decision !== null) return;
      if (sampled.has(pageId)) sampled.set(pageId, outcome);
      hear();
      if (isAsking) return;
      isAsking = true;
      if (test.verdict !== null) await decide(test.verdict, explainMode(test, options));
      else if (test.sampled >= options.sample)
        await decide(likelierMode(test, options), explainMode(test, options));
      else if (crew.othersMayHaveMore && store.clock.monotonic() - askedAt >= ASK_EVERY_MS) await askOthers();
      isAsking = false;
    },
    async close(why) {
      if (decision !== null) return;
      const seen = `${explainMode(test, options)}; ${why} before it was decided`;
      await decide('incremental', seen);
    },
  };
}

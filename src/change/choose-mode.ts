/**
 * Smart mode's decision: Wald's sequential probability ratio test on the share of pages that changed. After each page
 * of a random sample it says full, incremental, or that it cannot tell yet; so a clear case costs a dozen pages.
 *
 * It promises that where the true share lies outside the zone of indifference around the threshold, it is wrong at
 * most as often as the confidence allows. Within the zone either mode costs about the same. Pure: no page, no store.
 */
import type { CrawlMode } from '../store/port.ts';

export interface ModeTestOptions {
  /** Where more than this share changed, a full run is the better one. */
  threshold: number;
  /** How often the decision is right, at least. */
  confidence: number;
}

export interface ModeTest {
  readonly sampled: number;
  readonly changed: number;
  /** Null while nothing can be said. */
  readonly verdict: CrawlMode | null;
  observe(isChanged: boolean): void;
}

/** Half the width of the zone, where there is room for it on both sides. */
const HALF_ZONE = 0.1;

export function createModeTest({ threshold, confidence }: ModeTestOptions): ModeTest {
  const half = Math.min(HALF_ZONE, threshold / 2, (1 - threshold) / 2);
  const low = threshold - half;
  const high = threshold + half;
  const ifChanged = Math.log(high / low);
  const ifNot = Math.log((1 - high) / (1 - low));
  // Wald's simpler bound: wrong no more often than this for certain, at the price of a page or two.
  const bound = -Math.log(1 - confidence);
  let evidence = 0;
  let sampled = 0;
  let changed = 0;
  let verdict: CrawlMode | null = null;
  return {
    get sampled() {
      return sampled;
    },
    get changed() {
      return changed;
    },
    get verdict() {
      return verdict;
    },
    observe(isChanged) {
      // What comes after the decision is no part of it.
      if (verdict !== null) return;
      sampled++;
      if (isChanged) changed++;
      evidence += isChanged ? ifChanged : ifNot;
      if (evidence >= bound) verdict = 'full';
      else if (evidence <= -bound) verdict = 'incremental';
    },
  };
}

/** What the share that was seen says, where the test came to no end. */
export function likelierMode({ sampled, changed }: ModeTest, { threshold }: ModeTestOptions): CrawlMode {
  return sampled > 0 && changed / sampled > threshold ? 'full' : 'incremental';
}

/** The decision in words, with its figures. */
export function explainMode(test: ModeTest, { threshold, confidence }: ModeTestOptions): string {
  const seen = `${test.changed} of ${test.sampled} sampled pages changed`;
  const limit = `${percent(threshold)} %`;
  if (test.verdict === null)
    return `${seen}, too few to say with ${percent(confidence)} % confidence whether over or under ${limit}`;
  return `${seen} (${test.verdict === 'full' ? 'over' : 'under'} ${limit} with ${percent(confidence)} % confidence)`;
}

function percent(share: number): string {
  return String(Number((share * 100).toFixed(2)));
}

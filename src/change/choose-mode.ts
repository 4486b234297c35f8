/**
 * Smart mode's decision: a sequential test on the share of pages that changed. After each page of a random sample it
 * says full, incremental, or that it cannot decide yet. So a clear case needs a dozen pages.
 *
 * Promises: it names the wrong side of the threshold no more often than the confidence allows, whatever the true share
 * is and whenever the result is read. In return, it may never decide near the threshold. Pure: knows no page and no
 * store.
 */
import type { CrawlMode } from '../store/run-port.ts';

export interface ModeTestOptions {
  /** If more than this share changed, a full run is better. */
  threshold: number;
  /** The least share of right decisions. */
  confidence: number;
}

export interface ModeTest {
  readonly sampled: number;
  readonly changed: number;
  /** Null while it cannot decide. */
  readonly verdict: CrawlMode | null;
  observe(isChanged: boolean): void;
}

/** Shares on each side of the threshold that are compared with it. */
const RIVALS = 8;

/**
 * How much better the pages fit shares on one side of the threshold than the threshold itself: the mean of likelihood
 * ratios. If the true share is not on that side, this is a supermartingale that begins at 1. By Ville's inequality it
 * then reaches 20 in at most one case of 20.
 */
function createEvidence(threshold: number, from: number, to: number) {
  const ratios = Array.from({ length: RIVALS }, (_, i) => {
    const share = from + ((to - from) * (i + 0.5)) / RIVALS;
    return { ifChanged: Math.log(share / threshold), ifNot: Math.log((1 - share) / (1 - threshold)), sum: 0 };
  });
  return (isChanged: boolean): number => {
    let mean = 0;
    for (const ratio of ratios) {
      ratio.sum += isChanged ? ratio.ifChanged : ratio.ifNot;
      mean += Math.exp(ratio.sum) / RIVALS;
    }
    return mean;
  };
}

export function createModeTest({ threshold, confidence }: ModeTestOptions): ModeTest {
  const isOver = createEvidence(threshold, threshold, 1);
  const isUnder = createEvidence(threshold, 0, threshold);
  const enough = 1 / (1 - confidence);
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
      // Pages after the decision do not count.
      if (verdict !== null) return;
      sampled++;
      if (isChanged) changed++;
      const [over, under] = [isOver(isChanged), isUnder(isChanged)];
      if (over >= enough) verdict = 'full';
      else if (under >= enough) verdict = 'incremental';
    },
  };
}

/** The decision by the observed share, if the test did not decide. */
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

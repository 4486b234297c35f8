/**
 * How far a run is, in percent: pages_crawled of estimated_total. The estimate begins at max_pages and follows the queue
 * once it no longer grows. What is told never falls within a run, and is 100 only at its end; the estimate gives way where
 * both cannot be had, so that the two figures always agree.
 */

/** So many pages in a row, or this part of all pages, without a longer queue: what is known is about all there is. */
const STEADY_PAGES = 5;
const STEADY_PART = 0.1;
const MOST_BEFORE_END = 99.9;

export interface Progress {
  progress: number;
  estimatedTotal: number;
}

export interface ProgressMeter {
  /** `most`: no more than this may be told now. */
  read(pages: number, waiting: number, most?: number): Progress;
  /** What the last reading would have told without `most`. */
  readonly wanted: number;
  /** Other limits: the estimate is made anew, what was told stays. */
  setMaxPages(maxPages: number | null): void;
}

/** `told`: of an earlier part of the run. */
export function createProgressMeter(maxPages: number | null, told = 0): ProgressMeter {
  let limit = maxPages;
  let mostTold = told;
  let wanted = told;
  let mostKnown = 0;
  let grownAt = 0;

  function estimate(pages: number, waiting: number): number {
    const known = pages + waiting;
    if (known > mostKnown) {
      mostKnown = known;
      grownAt = pages;
    }
    const isSteady = pages - grownAt >= Math.max(STEADY_PAGES, pages * STEADY_PART);
    if (limit === null) return known;
    return isSteady ? Math.min(limit, known) : Math.max(limit, pages);
  }

  return {
    get wanted() {
      return wanted;
    },
    setMaxPages(next) {
      limit = next;
    },
    read(pages, waiting, most = MOST_BEFORE_END) {
      const total = Math.max(estimate(pages, waiting), pages, 1);
      const now = Math.min(MOST_BEFORE_END, hundredths((pages * 100) / total));
      wanted = Math.max(wanted, now);
      const progress = Math.max(mostTold, Math.min(wanted, most));
      mostTold = progress;
      if (progress === now || pages === 0 || progress === 0) return { progress, estimatedTotal: total };
      const agreed = (pages * 100) / progress;
      return {
        progress,
        estimatedTotal: Math.max(pages, progress > now ? Math.floor(agreed) : Math.ceil(agreed)),
      };
    },
  };
}

/** Rounded down, so that nothing is 100 before its end. */
const hundredths = (value: number) => Math.floor(value * 100) / 100;

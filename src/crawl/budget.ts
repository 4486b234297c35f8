/** How many pages the run may still ask for: a permit is taken before a GET and given back when it comes to nothing. */
export interface Budget {
  readonly isSpent: boolean;
  begin(pagesDone: number): void;
  take(): void;
  /** The GET had a final answer: the permit is used up. */
  spend(): void;
  giveBack(): void;
}

export function createBudget(maxPages: number | null, onGivenBack: () => void): Budget {
  const limit = maxPages ?? Number.POSITIVE_INFINITY;
  let done = 0;
  let taken = 0;
  return {
    get isSpent() {
      return done + taken >= limit;
    },
    begin(pagesDone) {
      done = pagesDone;
    },
    take() {
      taken++;
    },
    spend() {
      taken--;
      done++;
    },
    giveBack() {
      const wasSpent = this.isSpent;
      taken--;
      if (wasSpent) onGivenBack();
    },
  };
}

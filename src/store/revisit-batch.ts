/** What a plan of revisits knows of pages, by column, beside each other; see change/revisit/revisit-plan.ts. */
export interface RevisitBatch {
  pageIds: readonly number[];
  /** The last visit that the plan learned from, in wall milliseconds; NaN: none (null in the column `learned_at`). */
  learnedAt: ArrayLike<number>;
  rateShape: ArrayLike<number>;
  rateDays: ArrayLike<number>;
  signals: ArrayLike<number>;
  signalsInAll: ArrayLike<number>;
  flags: ArrayLike<number>;
}

/** What stands with the project beside them. */
export interface KeptPlan {
  /** As JSON. */
  plan: string;
  /** The last run that it has learned from, whole. */
  learnedRun: number;
  /** Where given, the plan is written only if this one is still kept: nobody else wrote since it was read. */
  before?: string | null;
}

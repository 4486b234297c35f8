/** Pages that a walk over the links may always look at, and for each visit of the run: what a run costs, it may cost. */
const WALKED_ANYWAY = 20_000;
const WALKED_A_VISIT = 10;

/** How many pages with links a project may have for all of them to be walked at the end of a run with so many visits. */
export function mostWalked(visits: number): number {
  return WALKED_ANYWAY + visits * WALKED_A_VISIT;
}

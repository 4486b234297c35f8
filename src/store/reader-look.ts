/** Up to where a reader has been told of changes. */
export interface ReaderLook {
  /** All of this run and of those before it. */
  run: number;
  /** Wall milliseconds: of later runs, what was visited up to then. */
  at: number;
}

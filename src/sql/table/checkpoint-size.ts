/**
 * How many bytes of log DuckDB gathers before it writes them into the file. A checkpoint writes the last row group once
 * more, as it is not full yet: with rows of 40 KB, a checkpoint each 64 MB would write every byte twice. So the log may
 * hold a whole row group of rows as large as they come. Small rows keep the 64 MB.
 */

export const ROWS_OF_GROUP = 4096;
const MEGABYTE = 1024 * 1024;
export const LEAST_CHECKPOINT_MB = 64;
const MOST_CHECKPOINT_MB = 512;
/** Fewer rows say little of the others. */
const ROWS_TO_JUDGE = 256;
const STEP_MB = 16;

export interface CheckpointSize {
  /** Hears of a batch; the new size in megabytes where it has to grow, else null. */
  note(rows: number, bytes: number): number | null;
}

export function createCheckpointSize(): CheckpointSize {
  let rows = 0;
  let bytes = 0;
  let sizeMb = LEAST_CHECKPOINT_MB;
  return {
    note(moreRows, moreBytes) {
      rows += moreRows;
      bytes += moreBytes;
      if (rows < ROWS_TO_JUDGE) return null;
      const groupMb = (bytes / rows) * (ROWS_OF_GROUP / MEGABYTE);
      const wantedMb = Math.min(MOST_CHECKPOINT_MB, Math.ceil(groupMb / STEP_MB) * STEP_MB);
      if (wantedMb <= sizeMb) return null;
      sizeMb = wantedMb;
      return sizeMb;
    },
  };
}

/** What a session that takes part in no run begins with. */
import type { RunStart } from './run-port.ts';

export const NO_RUN: RunStart = {
  runId: 0,
  projectId: 0,
  resumed: false,
  previousConfigHash: null,
  pagesDone: 0,
  requestsDone: 0,
  bytesDone: 0,
  knownUrls: 0,
};

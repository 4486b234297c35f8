/**
 * Why the loop of a run ended. `limit`: the run has all the pages it may request. `host-limit`: only pages of hosts wait
 * from which no more may be requested.
 */
export type LoopEnd = 'done' | 'limit' | 'host-limit' | 'stopped';

/**
 * Why the loop of a run ended. `limit`: the run has all the pages it may ask for. `host-limit`: only pages of hosts wait
 * that may not be asked for more.
 */
export type LoopEnd = 'done' | 'limit' | 'host-limit' | 'stopped';

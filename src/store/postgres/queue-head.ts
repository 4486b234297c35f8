/** The best waiting pages of a host, as the database answers them. */
import type { StoredLastVisit } from '../visit-rows.ts';
import type { WaitingPage } from './waiting-pages.ts';

export interface WaitingRow extends Omit<WaitingPage, 'last'>, StoredLastVisit {
  retry_at: number | null;
}

export interface QueueHead {
  /** The best pages, as many as were wanted, without those that wait for their time. */
  pages: WaitingRow[];
  /** The earliest of those. */
  retryAt: number | null;
  /** What the host's queue says it has. */
  counted: number;
}

export type HeadReader = (hostId: number, wanted: number) => Promise<QueueHead>;

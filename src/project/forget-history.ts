/** Clears old history of a store without a crawl. Pages keep what they have now. */
import { type Clock, systemClock } from '../primitives/clock.ts';
import type { Forgotten } from '../store/page-tables.ts';
import { type StorePlace, withStore } from './with-store.ts';

/** Of one project, or of all with null. Refused while another crawler has the store for itself. */
export async function forgetHistory(
  place: StorePlace,
  project: string | null,
  before: number,
  clock: Clock = systemClock,
): Promise<Forgotten> {
  return await withStore(place, (store) => store.projects.forget(project, before), clock);
}

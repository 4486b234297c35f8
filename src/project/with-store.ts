/** For use cases that write: a store that is open already is used and stays open, an address is opened for so long. */
import type { Config } from '../config/load-config.ts';
import { type Clock, systemClock } from '../primitives/clock.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store-port.ts';

/** Where it is written: an open store, or an address and how many seconds a database that is away is waited for. */
export type StorePlace = Store | (Pick<Config, 'storeAddress'> & Partial<Pick<Config, 'storePatience'>>);

/** What no call could answer for, such as a commit by the timer, is thrown at the end. */
export async function withStore<T>(
  place: StorePlace,
  use: (store: Store) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  if (!('storeAddress' in place)) return await use(place);
  const failures: unknown[] = [];
  const store = await openStore({
    address: place.storeAddress,
    clock,
    onFailure: (error) => void failures.push(error),
    patienceMs: place.storePatience === undefined ? undefined : place.storePatience * 1000,
  });
  let answer: T;
  try {
    answer = await use(store);
  } finally {
    await store.close();
  }
  if (failures.length > 0) throw failures[0];
  return answer;
}

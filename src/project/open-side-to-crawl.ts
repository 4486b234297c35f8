/**
 * What is stored, for who is about to crawl into it. Readers refuse a shared store of an older version, because only who
 * writes to it can bring it up to date. Whoever crawls next would do that, so it is done here first.
 */
import type { Config } from '../config/load-config.ts';
import { SumiError } from '../errors.ts';
import { systemClock } from '../primitives/clock.ts';
import { openReadSide, openStore } from '../store/open-store.ts';
import type { ReadSide } from '../store/read-side.ts';

export async function openSideToCrawl({
  storeAddress,
  storePatience,
}: Pick<Config, 'storeAddress' | 'storePatience'>): Promise<ReadSide> {
  try {
    return await openReadSide(storeAddress);
  } catch (error) {
    if (!(error instanceof SumiError) || error.code !== 'store-older') throw error;
  }
  const store = await openStore({
    address: storeAddress,
    clock: systemClock,
    patienceMs: storePatience * 1000,
    onFailure: (error) => {
      throw error;
    },
  });
  await store.close();
  return await openReadSide(storeAddress);
}

/**
 * What is stored, for who is about to crawl into it. Readers refuse a shared store of an older version, because only who
 * writes to it can bring it up to date. Whoever crawls next would do that, so it is done here first.
 */
import type { Config } from '../config/load-config.ts';
import { SumiError } from '../errors.ts';
import { openReadSide } from '../store/open-store.ts';
import type { ReadSide } from '../store/read-side.ts';
import { withStore } from './with-store.ts';

export async function openSideToCrawl({
  storeAddress,
  storePatience,
}: Pick<Config, 'storeAddress' | 'storePatience'>): Promise<ReadSide> {
  try {
    return await openReadSide(storeAddress);
  } catch (error) {
    if (!(error instanceof SumiError) || error.code !== 'store-older') throw error;
  }
  await withStore({ storeAddress, storePatience }, async () => {});
  return await openReadSide(storeAddress);
}

/** Keeps up to where a reader has been told of changes. */
import type { AskedLook } from './choose-runs.ts';
import { type StorePlace, withStore } from './with-store.ts';

export async function keepLook(
  place: StorePlace,
  project: string,
  { reader, next }: Pick<AskedLook, 'reader' | 'next'>,
): Promise<void> {
  await withStore(place, (store) => store.projects.saveLook(project, reader, next));
}

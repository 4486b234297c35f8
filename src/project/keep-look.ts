/** Keeps up to where a reader has been told of changes. */
import { systemClock } from '../primitives/clock.ts';
import { openStore } from '../store/open-store.ts';
import type { AskedLook } from './choose-runs.ts';

/** A database that does not answer is not waited for long: the list has been given already. */
const PATIENCE_MS = 10_000;

export async function keepLook(
  storeAddress: string,
  project: string,
  { reader, next }: Pick<AskedLook, 'reader' | 'next'>,
): Promise<void> {
  const failures: unknown[] = [];
  const store = await openStore({
    address: storeAddress,
    clock: systemClock,
    onFailure: (error) => void failures.push(error),
    patienceMs: PATIENCE_MS,
  });
  try {
    await store.projects.saveLook(project, reader, next);
  } finally {
    await store.close();
  }
  if (failures.length > 0) throw failures[0];
}

/** The only place that knows which adapter serves which address. */
import type { Clock } from '../primitives/clock.ts';
import type { BodyStore } from './bodies.ts';
import type { Store } from './port.ts';
import type { ReadSide } from './read-side.ts';

export interface OpenStoreOptions {
  /** A file path for SQLite. */
  address: string;
  clock: Clock;
  onFailure: (error: unknown) => void;
}

export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { openSqliteStore } = await import('./sqlite/sqlite-store.ts');
  return openSqliteStore({ path: options.address, clock: options.clock, onFailure: options.onFailure });
}

/** For questions only: possible while a crawler has the store, and never changes it. */
export async function openReadSide(address: string): Promise<ReadSide> {
  const { openSqliteReadSide } = await import('./sqlite/read-side.ts');
  return openSqliteReadSide(address);
}

/** `none` or `files:DIR`. */
export async function openBodies(address: string): Promise<BodyStore | null> {
  if (!address.startsWith('files:')) return null;
  const { openFileBodies } = await import('./files/file-bodies.ts');
  return openFileBodies(address.slice('files:'.length));
}

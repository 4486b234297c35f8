/** The only place that knows which adapter serves which address. */
import { type Clock, systemClock } from '../primitives/clock.ts';
import { isSharedStore } from '../primitives/store-address.ts';
import type { BodyStore } from './bodies.ts';
import type { ColumnFile } from './column-port.ts';
import type { CopyRole, CopySide } from './copy-port.ts';
import type { ReadSide } from './read-side.ts';
import type { RecordPort } from './record-port.ts';
import type { RunList } from './run-list.ts';
import type { Store } from './store-port.ts';

export interface OpenStoreOptions {
  /** `postgres://…` for PostgreSQL, else the path of an SQLite file. */
  address: string;
  clock: Clock;
  onFailure: (error: unknown) => void;
  /** How long a shared store that does not answer is waited for. */
  patienceMs?: number;
  /** What a file's pages may take in memory, where less will do than for a crawl. */
  cacheKib?: number;
}

const DEFAULT_PATIENCE_MS = 300_000;

export async function openStore(options: OpenStoreOptions): Promise<Store> {
  if (isSharedStore(options.address)) {
    const { openPostgresStore } = await import('./postgres/postgres-store.ts');
    return openPostgresStore({ ...options, patienceMs: options.patienceMs ?? DEFAULT_PATIENCE_MS });
  }
  const { openSqliteStore } = await import('./sqlite/sqlite-store.ts');
  const { address: path, clock, onFailure, cacheKib } = options;
  return openSqliteStore({ path, clock, onFailure, cacheKib });
}

/** For a worker that looks for runs to take part in; null for a file, which has room for one crawler only. */
export async function openRunList(
  options: Pick<OpenStoreOptions, 'address' | 'clock'> & { patienceMs: number },
): Promise<RunList | null> {
  if (!isSharedStore(options.address)) return null;
  const { openRunList: open } = await import('./postgres/run-list.ts');
  return open(options);
}

export interface OpenReadSideOptions {
  /** A file is read on threads of its own, for a process that has more to do than to wait for an answer. */
  thread?: boolean;
}

/** For questions only: possible while a crawler has the store, and never changes it. */
export async function openReadSide(
  address: string,
  { thread = false }: OpenReadSideOptions = {},
): Promise<ReadSide> {
  if (isSharedStore(address)) {
    const { openPostgresReadSide } = await import('./postgres/read-side.ts');
    return openPostgresReadSide(address);
  }
  if (thread) {
    const { openThreadedReadSide } = await import('./sqlite/threaded-read-side.ts');
    return openThreadedReadSide(address);
  }
  const { openSqliteReadSide } = await import('./sqlite/read-side.ts');
  return openSqliteReadSide(address);
}

/** For callers that cannot wait; null for a shared store, whose columns its read side streams. */
export async function openColumnFile(address: string): Promise<ColumnFile | null> {
  if (isSharedStore(address)) return null;
  const { openSqliteColumns } = await import('./sqlite/read-columns.ts');
  return openSqliteColumns(address);
}

export interface OpenBodiesOptions {
  /** Only `get` will be asked: whether bodies can be written is not checked. */
  isReadOnly?: boolean;
  /** For the pauses between two tries of a store that does not answer. */
  clock?: Clock;
  /** How long such a store is waited for. */
  patienceMs?: number;
}

/** `none`, `files:DIR` or `s3://BUCKET/PREFIX` (with endpoint, region and credentials in the environment). */
export async function openBodies(
  address: string,
  options: OpenBodiesOptions = {},
): Promise<BodyStore | null> {
  if (address.startsWith('s3:')) {
    const { openS3Bodies } = await import('./s3/s3-bodies.ts');
    return openS3Bodies({ ...options, address, env: process.env });
  }
  if (!address.startsWith('files:')) return null;
  const { openFileBodies } = await import('./files/file-bodies.ts');
  return openFileBodies(address.slice('files:'.length));
}

/** For `sumi copy`. Batches have at most so many rows, fewer where rows are large. */
export async function openCopySide(address: string, role: CopyRole, mostRows?: number): Promise<CopySide> {
  if (isSharedStore(address)) {
    const { openPostgresCopySide } = await import('./postgres/copy-side.ts');
    return openPostgresCopySide(address, role, mostRows);
  }
  const { openSqliteCopySide } = await import('./sqlite/copy-side.ts');
  return openSqliteCopySide(address, role, mostRows);
}

/** What a service keeps beside crawl data; open to several processes, also while a crawler has the store. */
export async function openRecords(address: string, clock: Clock = systemClock): Promise<RecordPort> {
  if (isSharedStore(address)) {
    const { openPostgresRecords } = await import('./postgres/records.ts');
    return openPostgresRecords(address, clock);
  }
  const { openSqliteRecords } = await import('./sqlite/records.ts');
  return openSqliteRecords(address, clock);
}

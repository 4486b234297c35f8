/**
 * Where the rows of an attached store come from. An SQLite file is read here, in the DuckDB thread, by the same SQLite that
 * a crawl of this process writes it with, so that no lock is lost. PostgreSQL answers the main thread, which sends the rows.
 */
import { statSync } from 'node:fs';
import { sumiError } from '../../errors.ts';
import { isSharedStore } from '../../primitives/store-address.ts';
import { requireProject } from '../../project/reading.ts';
import type { ColumnBatch, ColumnQuestion } from '../../store/column-port.ts';
import { openColumnFile } from '../../store/open-store.ts';
import type { MainThread } from '../thread/feed.ts';

/** The rows of one look at a table. */
export interface SiteScan {
  /** Null at the end. Throws once it was closed: rows that are missing must not look like all there are. */
  next(): ColumnBatch | null;
  /** Ends it early. */
  close(): void;
}

export type SiteQuestion = Omit<ColumnQuestion, 'project'>;

export interface SiteSource {
  read(question: SiteQuestion): SiteScan;
  close(): void;
}

export interface SiteAddress {
  address: string;
  /** Null for all that the store holds. */
  project: string | null;
}

/** Throws what is wrong with the address or the project. `taken`: files that DuckDB has open. */
export async function openSource(
  { address, project }: SiteAddress,
  main: MainThread,
  taken: readonly string[],
): Promise<SiteSource> {
  if (isSharedStore(address)) return openShared({ address, project }, main);
  refuseTaken(address, taken);
  // Null only for a shared store.
  const file = (await openColumnFile(address))!;
  try {
    if (project !== null) await requireProject(file, project, address);
  } catch (error) {
    file.close();
    throw error;
  }
  return {
    read(question) {
      const batches = file.columns({ ...question, project })[Symbol.iterator]();
      return closable(
        () => batches.next().value ?? null,
        () => void batches.return?.(),
      );
    },
    close: () => file.close(),
  };
}

function openShared(site: SiteAddress, main: MainThread): SiteSource {
  const check = main.open({ kind: 'site-check', args: site });
  while (check.next() !== null);
  return {
    read(question) {
      const feed = main.open({ kind: 'site-columns', args: { ...site, question } });
      let waiting: unknown[] = [];
      return closable(
        () => {
          if (waiting.length === 0) waiting = feed.next() ?? [];
          return (waiting.shift() as ColumnBatch | undefined) ?? null;
        },
        () => feed.close(),
      );
    },
    close() {},
  };
}

function closable(next: () => ColumnBatch | null, close: () => void): SiteScan {
  let isClosed = false;
  return {
    next() {
      if (isClosed) throw new Error('the rows of this table were given up');
      return next();
    },
    close() {
      isClosed = true;
      close();
    },
  };
}

/** Whoever closes a file loses all locks that this process has on it: DuckDB's own would be gone. */
function refuseTaken(address: string, taken: readonly string[]): void {
  const own = statSync(address, { throwIfNoEntry: false });
  if (own === undefined) return;
  for (const path of taken) {
    const other = statSync(path, { throwIfNoEntry: false });
    if (other !== undefined && other.dev === own.dev && other.ino === own.ino)
      throw sumiError('db-not-sqlite', { file: address });
  }
}

/**
 * The store beside the table file (`FILE.sumi`): queue, clocks of hosts, robots.txt, sitemaps, validators, request log.
 * One for the whole session, opened when the first statement needs it, so that all crawls of the session share the
 * clocks of hosts. A session in memory has a temporary one.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../primitives/clock.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store-port.ts';

export interface Sidecar {
  /** Where it is, or will be; null for a temporary one. */
  readonly path: string | null;
  open(): Promise<Store>;
  close(): Promise<void>;
}

/** `onFailure` hears of an error that no call can answer for. */
export function createSidecar(path: string | null, onFailure: (error: unknown) => void): Sidecar {
  let folder: string | null = null;
  let opened: Promise<Store> | null = null;

  async function open(): Promise<Store> {
    if (path === null) folder = await mkdtemp(join(tmpdir(), 'sumi-sql-'));
    const address = path ?? join(folder!, 'session.sumi');
    return openStore({ address, clock: systemClock, onFailure });
  }

  return {
    path,
    open() {
      if (opened === null) {
        opened = open();
        // Whoever could not open it may free it and try again.
        opened.catch(() => {
          opened = null;
        });
      }
      return opened;
    },
    async close() {
      const store = await opened?.catch(() => null);
      await store?.close();
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    },
  };
}

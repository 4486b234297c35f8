/** The target table from the main thread's side: what it knows, and where rows go. */
import type { KnownBatch } from '../table/read-known.ts';
import type { ThreadClient } from '../thread/thread-client.ts';
import { createBodyRoom } from './body-room.ts';
import { KnownRows } from './known-rows.ts';
import type { RowTarget } from './row-sink.ts';

interface TableAt {
  thread: ThreadClient;
  crawl: number;
}

export async function readKnownRows({ thread, crawl }: TableAt): Promise<KnownRows> {
  const known = new KnownRows();
  await thread.askForPieces<KnownBatch, void>('known', { crawl }, ({ urls, isPassing, crawledAt }) => {
    for (let i = 0; i < urls.length; i++) known.set(urls[i], isPassing[i] === 1, crawledAt[i]);
  });
  return known;
}

export function rowTarget({ thread, crawl }: TableAt): RowTarget {
  const { open, giveBack } = createBodyRoom();
  return {
    openPlace: open,
    append: (rows, buffers) => thread.workOnRows(crawl, 'append', rows, { buffers, giveBack }),
    replace: (rows, buffers) => thread.workOnRows(crawl, 'replace', rows, { buffers, giveBack }),
    touch: async (urls, at) => void (await thread.workOnRows(crawl, 'touch', { urls, at })),
  };
}

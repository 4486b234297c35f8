// A body store of one's own: here plain .html files that a browser opens, where the built-in `files:DIR` compresses.
// Run it: npx tsx examples/06-body-store.ts https://example.com/
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BodyStore, crawl } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';

async function plainFiles(folder: string): Promise<BodyStore> {
  await mkdir(folder, { recursive: true });
  return {
    // The key is kept with the page. The hash is the body's SHA-256: equal bodies have equal keys, so one file.
    async put(hash, bytes) {
      const key = `${Buffer.from(hash).toString('hex')}.html`;
      const path = join(folder, key);
      const isKept = await access(path).then(
        () => true,
        () => false,
      );
      if (isKept) return key;
      // Under another name first: a file with the right name is always a whole one, whatever happens in between.
      // The bytes belong to the crawler again once the promise is fulfilled.
      const unfinished = `${path}.${process.pid}.${Math.random()}`;
      await writeFile(unfinished, bytes);
      await rename(unfinished, path);
      return key;
    },
    get: (key) => readFile(join(folder, key)).catch(() => null),
    close: async () => {},
  };
}

const bodies = await plainFiles('bodies');
const run = await crawl({ startUrls: [start], db: 'bodies.db', maxPages: 5, bodies });
const { pages } = await run.finished;
console.log(`${pages} pages, bodies in ./bodies`);

// Your own body store: here plain .html files that a browser can open. The built-in `files:DIR` compresses bodies.
// Run it: npx tsx examples/06-body-store.ts https://example.com/
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BodyStore, crawl } from 'sumi-ripple';

const start = process.argv[2] ?? 'https://example.com/';

async function plainFiles(folder: string): Promise<BodyStore> {
  await mkdir(folder, { recursive: true });
  return {
    // The crawl stores the key with the page. The hash is the body's SHA-256: equal bodies have one key and one file.
    async put(hash, bytes) {
      const key = `${Buffer.from(hash).toString('hex')}.html`;
      const path = join(folder, key);
      const isKept = await access(path).then(
        () => true,
        () => false,
      );
      if (isKept) return key;
      // Written under another name first: a file with the right name is always complete.
      // After the promise is fulfilled, the crawler uses the bytes again.
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

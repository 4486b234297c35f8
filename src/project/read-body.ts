/** The bytes of a page as a crawl kept them, or its stored text. What is missing is told with the reason. */
import { existsSync } from 'node:fs';
import { withoutCredentials } from '../config/url-credentials.ts';
import { sumiError } from '../errors.ts';
import { openBodies } from '../store/open-store.ts';
import type { PageRow, ReadSide } from '../store/read-side.ts';
import { recordedConfig } from './config-of-run.ts';
import { requirePages } from './find-pages.ts';
import type { Reading } from './reading.ts';

/** Somebody waits for the answer. */
const PATIENCE_MS = 5000;

/** `bodies`: where they are, as `files:DIR` or `s3://…`; undefined: where the crawl kept them. */
export async function readBody(
  reading: Reading,
  url: string,
  bodies: string | undefined,
): Promise<Uint8Array> {
  const pages = await requirePages(reading, url);
  const shown = withoutCredentials(url);
  const page = pages.find(({ body_key }) => body_key !== null);
  if (page === undefined)
    throw sumiError('no-body', { url: shown, reason: await whyNoBody(reading.side, pages[0]) });
  return await readStored(shown, page, bodies ?? (await addressOf(reading.side, page)));
}

/** Several projects may have the page: the first text that is kept. */
export async function readText(reading: Reading, url: string): Promise<string> {
  const pages = await requirePages(reading, url);
  for (const { id } of pages) {
    const text = await reading.side.pageText(id);
    if (text !== null) return text;
  }
  const reason = await whyNoText(reading.side, pages[0]);
  throw sumiError('no-text', { url: withoutCredentials(url), reason });
}

async function readStored(url: string, page: PageRow, address: string): Promise<Uint8Array> {
  const folder = address.replace(/^files:/, '');
  // Opening for writing would make the folder; a question must not.
  const isThere = folder === address || existsSync(folder);
  const bodies = isThere ? await openBodies(address, { isReadOnly: true, patienceMs: PATIENCE_MS }) : null;
  try {
    const bytes = (await bodies?.get(page.body_key!)) ?? null;
    if (bytes !== null) return bytes;
  } finally {
    await bodies?.close();
  }
  const reason = `${folder} does not hold ${page.body_key} (say where bodies are with --bodies files:DIR or s3://BUCKET/PREFIX)`;
  throw sumiError('no-body', { url, reason });
}

async function addressOf(side: ReadSide, page: PageRow): Promise<string> {
  const run = page.visited_run === null ? null : await side.run(page.visited_run);
  return run === null ? 'none' : (await recordedConfig(run)).bodies;
}

export async function whyNoText(side: ReadSide, page: PageRow): Promise<string> {
  const reason = whyNotRead(page);
  if (reason !== null) return reason;
  const run = page.visited_run === null ? null : await side.run(page.visited_run);
  return run !== null && !(await recordedConfig(run)).storeText
    ? 'the crawl that visited it kept no texts'
    : 'it is a document without text, or asks not to be kept';
}

function whyNotRead(page: PageRow): string | null {
  if (page.visited_run === null)
    return `it was not fetched (${page.state}${page.reason ? `, ${page.reason}` : ''})`;
  if (page.final_url !== null) return `it redirects to ${page.final_url}`;
  return page.state === 'Processed' ? null : `its last visit ended as ${page.state}`;
}

export async function whyNoBody(side: ReadSide, page: PageRow): Promise<string> {
  const reason = whyNotRead(page);
  if (reason !== null) return reason;
  return (await addressOf(side, page)) === 'none'
    ? 'the crawl that visited it kept no bodies'
    : 'its last visit brought none, or the page asks not to be kept';
}

/** `sumi cat URL`: the bytes of a page as they were kept, or its stored text, to standard output. */
import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { withoutCredentials } from '../config/url-credentials.ts';
import { sumiError } from '../errors.ts';
import { configOfRun } from '../project/config-of-run.ts';
import { requirePages } from '../project/find-pages.ts';
import { openBodies } from '../store/open-store.ts';
import type { PageRow, ReadSide } from '../store/read-side.ts';
import { addReadFlags, withReadSide } from './read-command.ts';

/** Somebody waits at a terminal. */
const PATIENCE_MS = 5000;

const EXAMPLES = `
Examples:
  sumi crawl https://example.com --bodies files:bodies
  sumi cat https://example.com/about > about.html
  sumi cat https://example.com/about --text      # the main text, in lines
  sumi cat https://example.com/about --store postgres://db/crawl --raw   # from s3://, where the crawl kept it`;

export function catCommand(): Command {
  const command = new Command('cat')
    .description('print the stored body of a page, or its text')
    .argument('<url>', 'the page');
  addReadFlags(command, false, ['bodies'], []);
  command.option('--raw', 'print the stored bytes (this also happens without the flag)');
  command.option('--text', 'print the stored main text instead of the body');
  return command.addHelpText('after', EXAMPLES).action((url: string) =>
    withReadSide(command, async (reading) => {
      const { config, side } = reading;
      const pages = await requirePages(reading, url);
      const shown = withoutCredentials(url);
      if (command.getOptionValue('text') === true) {
        const text = await findText(side, pages);
        if (text === null)
          throw sumiError('no-text', { url: shown, reason: await whyNoText(side, pages[0]) });
        process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
        return;
      }
      const page = pages.find(({ body_key }) => body_key !== null);
      if (page === undefined)
        throw sumiError('no-body', { url: shown, reason: await whyNone(side, pages[0]) });
      const isGiven = config.sources.bodies.from !== 'default';
      const address = isGiven ? config.bodies : await addressOf(side, page);
      process.stdout.write(await readBody(shown, page, address));
    }),
  );
}

async function readBody(url: string, page: PageRow, address: string): Promise<Uint8Array> {
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
  return run === null ? 'none' : (await configOfRun(run)).bodies;
}

/** Several projects may have the page: the first text that is kept. */
async function findText(side: ReadSide, pages: readonly PageRow[]): Promise<string | null> {
  for (const { id } of pages) {
    const text = await side.pageText(id);
    if (text !== null) return text;
  }
  return null;
}

async function whyNoText(side: ReadSide, page: PageRow): Promise<string> {
  const reason = whyNotRead(page);
  if (reason !== null) return reason;
  const run = page.visited_run === null ? null : await side.run(page.visited_run);
  return run !== null && !(await configOfRun(run)).storeText
    ? 'the crawl that visited it kept no texts'
    : 'it is a document without text, or asks not to be kept';
}

function whyNotRead(page: PageRow): string | null {
  if (page.visited_run === null)
    return `it was not fetched (${page.state}${page.reason ? `, ${page.reason}` : ''})`;
  if (page.final_url !== null) return `it redirects to ${page.final_url}`;
  return page.state === 'Processed' ? null : `its last visit ended as ${page.state}`;
}

async function whyNone(side: ReadSide, page: PageRow): Promise<string> {
  const reason = whyNotRead(page);
  if (reason !== null) return reason;
  return (await addressOf(side, page)) === 'none'
    ? 'the crawl that visited it kept no bodies'
    : 'its last visit brought none, or the page asks not to be kept';
}

/** `sumi sitemap`: what the sitemaps of a site name. Entries go to standard output, what went wrong to standard error. */
import { Command } from 'commander';
import { loadConfig } from '../config/load-config.ts';
import { withoutCredentials } from '../config/url-credentials.ts';
import { EXIT_CODES, sumiError } from '../errors.ts';
import { SITE_ENTRY_NAMES } from '../export/list-columns.ts';
import { applyProjectSettings } from '../project/apply-project-settings.ts';
import {
  listSiteEntries,
  type SiteEntryRow,
  type SitemapReport,
  type StoredListing,
} from '../project/list-site-entries.ts';
import type { Column } from '../render/render-table.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';
import { BOM_DOC, readWholeNumber, wantsBom } from './read-command.ts';
import { warnUnusedSettings } from './warn-unused-settings.ts';
import { printRows } from './write-output.ts';

const EXAMPLES = `
Examples:
  sumi sitemap example.com                                  robots.txt, else the usual paths, else the home page's link
  sumi sitemap https://example.com/sitemap_index.xml        this one, and those it names
  sumi sitemap http://localhost:8080/                       http is asked as http; a bare host by https first
  sumi sitemap example.com --format csv > urls.csv          every column
  sumi sitemap example.com --db site.db                     kept, and given from there for sitemap-cache-hours
  sumi sitemap example.com --db site.db --fresh             read again all the same
A page that is named twice is listed twice when sitemaps are read, and once when the list comes from the database.`;

const COLUMNS: readonly Column<SiteEntryRow>[] = [
  { title: 'url', value: (row) => row.url, shrinksTo: 20, keepsEnd: true },
  { title: 'lastmod', value: (row) => row.lastmod },
  { title: 'changefreq', value: (row) => row.changefreq },
  { title: 'priority', value: (row) => row.priority, align: 'right' },
  { title: 'kind', value: (row) => row.kind },
  { title: 'sitemap', value: (row) => row.sitemap, shrinksTo: 10, keepsEnd: true },
];

export function sitemapCommand(): Command {
  const command = new Command('sitemap')
    .description('list the URLs in the sitemaps of a site')
    .argument('<url>', 'a host, a page or a sitemap');
  addOptionFlags(command, [
    'db',
    'store',
    'project',
    'config',
    'profile',
    'format',
    'quiet',
    'verbose',
    'lease-seconds',
    'store-patience',
    'sitemap',
    'politeness',
    'fetch',
  ])
    .option('--fresh', 'read the sitemaps again, even if they were read a short time ago')
    .option('--bom', BOM_DOC)
    .option('--limit <N>', 'print at most so many rows (default: all)');
  return command.addHelpText('after', EXAMPLES).action(async (url: string) => {
    const sources = { env: process.env, flags: flagsGiven(command) };
    const config = await applyProjectSettings(await loadConfig(sources), { sources, startUrls: [url] });
    warnUnusedSettings(config);
    const bom = wantsBom(command, config.format);
    const limit = readWholeNumber(command, '--limit', command.getOptionValue('limit') as string | undefined);
    const reports = createNotes(config.quiet ? -1 : config.verbose);
    const signal = abortOnSignals();
    const entries = listSiteEntries(config, url, { listener: reports, signal, limit });
    const { rows } = entries;
    await printRows({ rows, format: config.format, names: SITE_ENTRY_NAMES, columns: COLUMNS, bom });
    if (signal.aborted) {
      process.exitCode = EXIT_CODES.interrupted;
      return;
    }
    // Rows enough, before it was known what became of the sitemap they are of.
    if (reports.hits === 0 && !entries.isCut)
      throw sumiError('no-sitemap', { url: withoutCredentials(url), reason: reports.reason });
  });
}

/** The first one ends the listing in good order, a second one the process. */
function abortOnSignals(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

/** Says what went wrong; with -v also what was tried in vain, and what was found. */
function createNotes(verbosity: number) {
  let hits = 0;
  let reason = 'nobody names one';
  const say = (line: string) => process.stderr.write(`${line}\n`);
  return {
    get hits() {
      return hits;
    },
    /** Of the last one that could not be read. */
    get reason() {
      return reason;
    },
    onSitemap({ url, foundBy, kind, entries, problem, isMiss }: SitemapReport) {
      if (kind !== null) hits++;
      else if (!isMiss) reason = `${url}: ${problem}`;
      if (problem !== null && verbosity >= (isMiss ? 1 : 0)) say(`${url}: ${problem}`);
      else if (verbosity > 0) say(`${url} (${foundBy}): ${kind}, ${entries} entries`);
    },
    onStored({ checkedAt, trouble, entries }: StoredListing) {
      const then = new Date(checkedAt).toISOString();
      if (entries === null) {
        const found = trouble === null ? 'nobody named one' : 'what was named could not be read';
        reason = `${found} at ${then}; --fresh looks again`;
        return;
      }
      hits++;
      const missing = trouble === null ? '' : ', when not everything could be read';
      if (verbosity >= 0) say(`as read at ${then}${missing}; --fresh reads again`);
    },
    onWait(host: string) {
      if (verbosity >= 0) say(`waiting for ${host}, which another worker has`);
    },
  };
}

/** `sumi crawl`: from flags to a run. */
import { Command } from 'commander';
import { configureCrawl } from '../project/apply-project-settings.ts';
import { crawlToEnd } from './crawl-to-end.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';
import { readUrlList } from './read-url-list.ts';
import { warnUnusedSettings } from './warn-unused-settings.ts';

const EXAMPLES = `
Examples:
  sumi crawl https://example.com                          everything on that host, into ./sumi.db
  sumi crawl example.com --discover sitemap               only what its sitemaps name
  sumi crawl https://example.com --max-pages 200          stop after 200 pages
  sumi crawl https://example.com --include /blog/         only the blog (and the start page)
  sumi crawl --urls list.txt --fetch-only                 exactly these pages, following no links
  sumi crawl https://example.com --profile balanced       for later crawls: download only what changed
  sumi crawl https://example.com --json > events.jsonl    for programs
  sumi crawl https://example.com --store postgres://sumi@db.example.com/crawl    where other machines can help
Ctrl-C stops a crawl. The same command continues it later.`;

export function crawlCommand(): Command {
  const command = new Command('crawl')
    .description('crawl sites into a database')
    .argument('[url...]', 'where to start');
  addOptionFlags(command, ['scope', 'politeness', 'fetch', 'page', 'change', 'sitemap', 'run', 'workers'], {
    formats: [],
  });
  return command.addHelpText('after', EXAMPLES).action(async (urls: string[]) => {
    const sources = { env: process.env, flags: flagsGiven(command) };
    const { config, startUrls } = await configureCrawl(sources, {
      startUrls: urls,
      readList: readUrlList,
      isCrawl: true,
    });
    warnUnusedSettings(config);
    await crawlToEnd(config, startUrls);
  });
}

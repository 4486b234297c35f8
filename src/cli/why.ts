/**
 * `sumi why URL`: everything the store knows about what became of a URL, and which rule decided. Exit code 0 for a
 * known URL, 1 for an unknown one. It repeats the robots.txt decision from the stored file; it never asks the web.
 */
import { Command } from 'commander';
import { withoutCredentials } from '../config/url-credentials.ts';
import { sumiError } from '../errors.ts';
import type { PageRow } from '../store/read-side.ts';
import { settingsOf } from '../watch/watch-settings.ts';
import { explainPage } from './explain-page.ts';
import { findPages } from './find-pages.ts';
import { addReadFlags, wantsJson, withReadSide } from './read-command.ts';
import { renderExplanation } from './render-explanation.ts';

const EXAMPLES = `
Examples:
  sumi why https://example.com/private/     why it was not fetched
  sumi why example.com/old --format json    any spelling of the URL will do
  sumi why example.com/news --revisit bands    when it would be visited again by another rule
  sumi why example.com/news --budget 500/day   what a watch with so many visits would plan`;

export function whyCommand(): Command {
  const command = new Command('why')
    .description('explain what happened to a URL, and which rule decided')
    .argument('<url>', 'the URL');
  return addReadFlags(command, false, ['revisit', 'budget'])
    .addHelpText('after', EXAMPLES)
    .action((url: string) =>
      withReadSide(command, async ({ config, side, project }) => {
        const isJson = wantsJson(config);
        const pages = await findPages(side, url, project);
        if (pages.length === 0)
          throw sumiError('unknown-url', { url: withoutCredentials(url), file: config.storeLabel });
        const kind = config.sources.revisit.from === 'default' ? undefined : config.revisit;
        const asked = { now: Date.now(), kind, visitsPerDay: settingsOf(config).all.perDay };
        const explained = [];
        for (const page of pages) explained.push(await explainPage(side, page as PageRow, asked));
        const text = isJson
          ? JSON.stringify(explained.length === 1 ? explained[0] : explained, null, 2)
          : explained.map((one) => renderExplanation(one, asked.now)).join('\n\n');
        process.stdout.write(`${text}\n`);
      }),
    );
}

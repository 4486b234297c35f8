/**
 * `sumi why URL`: everything the store knows about what became of a URL, and which rule decided. Exit code 0 for a
 * known URL, 1 for an unknown one. It repeats the robots.txt decision from the stored file; it never asks the web.
 */
import { Command } from 'commander';
import { readRate } from '../config/watch-values.ts';
import { explainUrl } from '../project/explain-page.ts';
import { renderExplanation } from '../render/render-explanation.ts';
import { painterFor } from '../render/terminal-text.ts';
import { addReadFlags, wantsJson, withReadSide } from './read-command.ts';

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
      withReadSide(command, async (reading) => {
        const { config } = reading;
        const isJson = wantsJson(config);
        const now = Date.now();
        const kind = config.sources.revisit.from === 'default' ? undefined : config.revisit;
        // The option table has checked it.
        const visitsPerDay = readRate(config.budget)!;
        const explained = await explainUrl(reading, url, { now, kind, visitsPerDay });
        const paint = painterFor(process.stdout, process.env);
        const text = isJson
          ? JSON.stringify(explained.length === 1 ? explained[0] : explained, null, 2)
          : explained.map((one) => renderExplanation(one, now, paint)).join('\n\n');
        process.stdout.write(`${text}\n`);
      }),
    );
}

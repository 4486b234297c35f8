/** `sumi cat URL`: the bytes of a page as they were kept, or its stored text, to standard output. */
import { Command } from 'commander';
import { readBody, readText } from '../project/read-body.ts';
import { addReadFlags, withReadSide } from './read-command.ts';

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
      if (command.getOptionValue('text') === true) {
        const text = await readText(reading, url);
        process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
        return;
      }
      const { bodies, sources } = reading.config;
      const address = sources.bodies.from === 'default' ? undefined : bodies;
      process.stdout.write(await readBody(reading, url, address));
    }),
  );
}

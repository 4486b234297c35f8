/** `sumi forget`: clears history older than asked for, after a question. Pages, links and the request log stay. */
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { forgetHistory } from '../crawl/forget-history.ts';
import { EXIT_CODES, sumiError } from '../errors.ts';
import { printable, showMany } from '../report/terminal-text.ts';
import { addReadFlags, wantsJson, withReadSide } from './read-command.ts';
import { readLength } from './read-time.ts';

const EXAMPLES = `
Examples:
  sumi forget --older-than 90d                        asks first, then clears the history of every project
  sumi forget --older-than 4w --project shop --yes    one project, without a question
Cleared are visits and what they found changed; pages keep what is known of them now, and how often they changed.
With --keep-history DAYS a crawl does the same at its end.`;

export function forgetCommand(): Command {
  const command = new Command('forget')
    .description('clear old history: visits and what they found changed')
    .requiredOption('--older-than <TIME>', 'how old, as 12h, 90d or 8w')
    .option('--yes', 'do not ask');
  return addReadFlags(command, false)
    .addHelpText('after', EXAMPLES)
    .action(async (flags: { olderThan: string; yes?: boolean }) => {
      const before = Date.now() - readLength(flags.olderThan, '--older-than');
      // Asked of the reading side first, so that a store that is not there is not made, and closed before it is changed.
      let forget = async () => {};
      await withReadSide(command, async ({ config, project }) => {
        const isJson = wantsJson(config);
        const when = new Date(before).toISOString();
        const whose = project === undefined ? 'all projects' : `project "${project}"`;
        if (!flags.yes && !(await isConfirmed(`Clear the history of ${whose} before ${when}?`))) {
          process.stderr.write('Nothing was cleared.\n');
          process.exitCode = EXIT_CODES.failed;
          return;
        }
        forget = async () => {
          const { visits, changes } = await forgetHistory(config, project ?? null, before);
          const text = isJson
            ? JSON.stringify({ before: when, project: project ?? null, visits, changes })
            : `${showMany(visits, 'visit')} and ${showMany(changes, 'change')} of ${whose} from before ${when} cleared`;
          process.stdout.write(`${isJson ? text : printable(text)}\n`);
        };
      });
      await forget();
    });
}

async function isConfirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw sumiError('usage', {
      reason: 'history is cleared for good, and there is nobody to ask; give --yes',
      command: 'sumi forget',
    });
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${printable(question)} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}

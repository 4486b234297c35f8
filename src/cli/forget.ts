/** `sumi forget`: clears history older than asked for, after a question. Pages and links stay. */
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { EXIT_CODES, sumiError } from '../errors.ts';
import { forgetHistory } from '../project/forget-history.ts';
import { printable, showMany } from '../render/terminal-text.ts';
import { addReadFlags, wantsJson, withReadSide } from './read-command.ts';
import { readLength } from './read-time.ts';

const EXAMPLES = `
Examples:
  sumi forget --older-than 90d                        asks first, then deletes the history of all projects
  sumi forget --older-than 4w --project shop --yes    one project, without a question
Deleted are visits, the changes they found, and the log of requests. Pages keep
what is known of them now, with the last visit and how often they changed.
\`sumi audit\` checks what is left of the log, and says from when on.
With --keep-history DAYS a crawl does the same at its end.`;

export function forgetCommand(): Command {
  const command = new Command('forget')
    .description('delete old history: visits, changes, requests')
    .requiredOption('--older-than <TIME>', 'how old, as 12h, 90d or 8w')
    .option('--yes', 'do not ask');
  return addReadFlags(command, false)
    .addHelpText('after', EXAMPLES)
    .action(async (flags: { olderThan: string; yes?: boolean }) => {
      const before =
        Date.now() - readLength(flags.olderThan, { flag: '--older-than', command: 'sumi forget' });
      // Asked of the reading side first, so that a store that is not there is not made, and closed before it is changed.
      let forget = async () => {};
      await withReadSide(command, async ({ config, project }) => {
        const isJson = wantsJson(config);
        const when = new Date(before).toISOString();
        const whose = project === undefined ? 'all projects' : `project "${project}"`;
        if (
          !flags.yes &&
          !(await isConfirmed(
            `Clear visits, changes and the request log of ${whose} before ${when}? What was asked then can be audited no more.`,
          ))
        ) {
          process.stderr.write('Nothing was cleared.\n');
          process.exitCode = EXIT_CODES.failed;
          return;
        }
        forget = async () => {
          const forgotten = await forgetHistory(config, project ?? null, before);
          const { visits, changes, requests } = forgotten;
          const text = isJson
            ? JSON.stringify({ before: when, project: project ?? null, ...forgotten })
            : `${showMany(visits, 'visit')}, ${showMany(changes, 'change')} and ${showMany(requests, 'request')} of ${whose} from before ${when} cleared`;
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

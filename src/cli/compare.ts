/** `sumi compare RUN RUN`: the pages of a project after one run and after another, from their history. */
import { Command } from 'commander';
import type { ChangeFormat } from '../export/change-pieces.ts';
import { tellDifferences } from '../export/tellable-changes.ts';
import { compareTwoRuns } from '../project/compare-two-runs.ts';
import { addOptionFlags } from './options-to-flags.ts';
import { withReadSide } from './read-command.ts';
import { addOutputFlags, outputOf, readRunNumber, writeChanges } from './write-changes.ts';

const EXAMPLES = `
Examples:
  sumi compare 1 4                          what became of the pages between the two runs
  sumi compare 1 4 --format json            one object a page that was added, removed or changed, or failed
  sumi compare 1 4 --out difference.html    a page to look at; .md for an issue, .csv for a table
A page that changed and changed back counts as unchanged. docs/changes.md
explains the words.`;

interface CompareFlags {
  format?: ChangeFormat;
  out?: string;
}

export function compareCommand(): Command {
  const command = new Command('compare')
    .description('compare two runs of a project: pages added, removed, changed')
    .argument('<run>', 'the number of a run')
    .argument('<run>', 'the number of another run');
  addOutputFlags(command).option('--limit <N>', 'print at most so many rows (default: all)');
  addOptionFlags(command, ['db', 'store', 'config', 'project']);
  return command.addHelpText('after', EXAMPLES).action((one: string, other: string, flags: CompareFlags) =>
    withReadSide(
      command,
      async (reading) => {
        const output = outputOf(flags, reading.config, command);
        const runs = [readRunNumber(one, 'sumi compare'), readRunNumber(other, 'sumi compare')] as const;
        const found = await compareTwoRuns(reading, runs, reading.limit);
        if (found.isCleared)
          process.stderr.write(
            `The history of run ${found.first.run} was cleared (sumi forget, --keep-history): what changed, came or went since is told as far as later visits know it.\n`,
          );
        await writeChanges(tellDifferences(found), output);
      },
      ['format'],
    ),
  );
}

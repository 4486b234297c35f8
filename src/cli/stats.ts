/** `sumi stats`: what a file, or one project in it, amounts to. */
import { Command } from 'commander';
import { describeStore } from '../project/describe-store.ts';
import { renderStats } from '../render/render-stats.ts';
import { addReadFlags, wantsJson, withReadSide } from './read-command.ts';
import { screenOf } from './write-output.ts';

export function statsCommand(): Command {
  const command = new Command('stats').description('print the numbers of a database or project');
  return addReadFlags(command, false).action(() =>
    withReadSide(command, async (reading) => {
      const isJson = wantsJson(reading.config);
      const store = await describeStore(reading);
      const text = isJson ? JSON.stringify(store, null, 2) : renderStats(store, screenOf().paint);
      process.stdout.write(`${text}\n`);
    }),
  );
}

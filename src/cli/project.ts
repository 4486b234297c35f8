/** `sumi project`: shows and keeps how a project is crawled, so that every later crawl and watch of it needs no flags. */
import { Command } from 'commander';
import { type Config, loadConfig } from '../config/load-config.ts';
import { OPTIONS, type OptionName } from '../config/option-table.ts';
import { showValue } from '../config/show-value.ts';
import { splitSettings } from '../config/who-may-set.ts';
import { sumiError } from '../errors.ts';
import { type KeptSettings, keepSettings, readKeptSettings } from '../project/keep-settings.ts';
import { openReading } from '../project/reading.ts';
import { printable } from '../render/terminal-text.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';
import { ANSWER_FORMATS, wantsJson } from './read-command.ts';

const EXAMPLES = `
Examples:
  sumi project                                        every project of ./sumi.db and what it keeps
  sumi project shop.example --set mode=incremental    later crawls of it ask only for what changed
  sumi project shop.example --set delay=2 --set max-pages=5000 --unset mode
  sumi config --project shop.example                  all options as a crawl of it would use them
A project's settings win over profiles. A file (--config), variables and flags win over them.
Its name is its start host (shop.example:8080 where the address has a port), unless --project gave another.`;

interface ProjectFlags {
  set?: string[];
  unset?: string[];
}

const collect = (text: string, before: string[] | undefined) => [...(before ?? []), text];

export function projectCommand(): Command {
  const command = new Command('project')
    .description('show or set the options that a project keeps')
    .argument('[name]', 'the name of a project (default: all)')
    .option('--set <NAME=VALUE>', 'keep this option for later crawls; repeat it for more', collect)
    .option('--unset <NAME>', 'do not keep this option any more; repeat it for more', collect);
  addOptionFlags(command, ['db', 'store', 'config', 'project', 'format'], {
    formats: ANSWER_FORMATS,
  });
  return command
    .addHelpText('after', EXAMPLES)
    .action(async (name: string | undefined, flags: ProjectFlags) => {
      const config = await loadConfig({ env: process.env, flags: flagsGiven(command) });
      const isJson = wantsJson(config);
      const project = name ?? config.project;
      const changes = { set: flags.set ?? [], unset: flags.unset ?? [] };
      if (changes.set.length + changes.unset.length > 0) {
        if (project === null)
          throw sumiError('usage', {
            reason: 'a setting needs a project to keep it',
            command: 'sumi project',
          });
        await keepSettings(config, project, changes);
      }
      const kept = await readKept(config, project);
      const [only] = kept;
      print(isJson ? JSON.stringify(project === null ? kept : only, null, 2) : renderKept(kept));
    });
}

async function readKept(config: Config, project: string | null): Promise<KeptSettings[]> {
  const reading = await openReading(config.storeAddress, project);
  try {
    return await readKeptSettings(reading);
  } finally {
    await reading.close();
  }
}

/** Kept by an older version. */
const UNUSED = '   (not used: a project may not set it any more; --unset drops it)';

const isUsed = (name: string) => splitSettings({ [name]: null }).unused.length === 0;

function renderKept(kept: readonly KeptSettings[]): string {
  if (kept.length === 0) return 'There is no project yet.';
  return kept
    .flatMap(({ project, settings }) => {
      const entries = Object.entries(settings);
      const width = Math.max(...entries.map(([name]) => name.length));
      const show = (name: string, value: unknown) =>
        printable(
          Object.hasOwn(OPTIONS, name)
            ? showValue(value, OPTIONS[name as OptionName])
            : JSON.stringify(value),
        );
      return [
        printable(project),
        ...(entries.length === 0 ? ['  nothing kept: defaults, files and flags decide'] : []),
        ...entries.map(
          ([name, value]) => `  ${name.padEnd(width)}  ${show(name, value)}${isUsed(name) ? '' : UNUSED}`,
        ),
      ];
    })
    .join('\n');
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

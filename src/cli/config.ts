/** `sumi config`: prints every option as a crawl with the same flags would use it, and where its value came from. */

import { Command } from 'commander';
import { type Config, configHash, loadConfig } from '../config/load-config.ts';
import { type GroupName, OPTION_GROUPS, OPTIONS, type OptionName } from '../config/option-table.ts';
import { showValue, withoutSecret } from '../config/show-value.ts';
import { sumiError } from '../errors.ts';
import { applyProjectSettings } from '../project/apply-project-settings.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';
import { ANSWER_FORMATS } from './read-command.ts';
import { warnUnusedSettings } from './warn-unused-settings.ts';

const EXAMPLES = `
Examples:
  sumi config                                  the defaults
  sumi config --profile terrain                the defaults of another profile
  sumi config --project shop.example           with what that project keeps (sumi project)
  sumi config --config crawl.toml --delay 2    what such a crawl would use
  sumi config --format json                    for programs`;

export function configCommand(): Command {
  const command = new Command('config')
    .description('print all options, and where each value came from')
    .argument('[file]', 'TOML file, as --config');
  addOptionFlags(command, Object.keys(OPTION_GROUPS) as GroupName[], { formats: ANSWER_FORMATS });
  return command.addHelpText('after', EXAMPLES).action(async (file: string | undefined) => {
    const sources = { file, env: process.env, flags: flagsGiven(command) };
    const told = await loadConfig(sources);
    const request = { sources, startUrls: told.startUrls, isReadOnly: true } as const;
    const config = await applyProjectSettings(told, request);
    warnUnusedSettings(config);
    process.stdout.write(`${renderConfig(config)}\n`);
  });
}

function renderConfig(config: Config): string {
  if (config.format === 'table') return renderTable(config);
  if (config.format === 'json') return JSON.stringify(describeConfig(config), null, 2);
  const place = config.sources.format.from;
  throw sumiError('bad-value', { option: 'format', value: config.format, place, expected: 'table or json' });
}

function describeConfig(config: Config): object {
  const options: Record<string, unknown> = {};
  for (const [name, { value, from }] of Object.entries(config.sources)) {
    options[name] = { value: withoutSecret(value, OPTIONS[name as OptionName]), from };
  }
  return { profile: config.profile, user_agent: config.userAgent, config_hash: configHash(config), options };
}

function renderTable(config: Config): string {
  const rows = Object.values(OPTION_GROUPS).map(({ title, options }) => ({
    title,
    cells: (Object.keys(options) as OptionName[]).map((name) => {
      const { value, from } = config.sources[name];
      return [name, showValue(value, OPTIONS[name]), from];
    }),
  }));
  const all = rows.flatMap(({ cells }) => cells);
  const nameWidth = Math.max(...all.map(([name]) => name.length));
  // A few long values must not push the last column off the screen for all others.
  const valueWidth = Math.min(32, Math.max(...all.map(([, value]) => value.length)));
  const lines = rows.flatMap(({ title, cells }) => [
    title,
    ...cells.map(
      ([name, value, from]) => `  ${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${from}`,
    ),
    '',
  ]);
  return [...lines, `User-Agent   ${config.userAgent}`, `config hash  ${configHash(config)}`].join('\n');
}

/**
 * What a project keeps of options: those that the table lets a project set (how it is crawled: mode, delay, limits, …).
 * Kept as one JSON object by option name, values as the table reads them.
 */
import { sumiError } from '../errors.ts';
import { loadConfig } from './load-config.ts';
import { nearestName } from './nearest-name.ts';
import { ALIASES, isOptionName, type OptionName } from './option-table.ts';
import { optionMeant } from './other-words.ts';
import { PROJECT_OPTIONS, whyNoSetting } from './who-may-set.ts';

export type ProjectSettings = Readonly<Record<string, unknown>>;

export interface SettingChanges {
  /** NAME=VALUE each. */
  set: readonly string[];
  /** Names. */
  unset: readonly string[];
}

export function readSettings(json: string | null): ProjectSettings {
  return json === null ? {} : (JSON.parse(json) as ProjectSettings);
}

/** As it is to be stored; null when nothing is left. */
export function writeSettings(settings: ProjectSettings): string | null {
  return Object.keys(settings).length === 0 ? null : JSON.stringify(settings);
}

/** The settings after the changes: every one checked as if it came from a file. */
export async function changeSettings(
  project: string,
  stored: ProjectSettings,
  { set, unset }: SettingChanges,
): Promise<ProjectSettings> {
  const values: Record<string, unknown> = { ...stored };
  // A setting of another version may be unknown by now: it can still be dropped.
  for (const name of unset) delete values[name in values ? name : optionOf(name, '--unset')];
  for (const text of set) {
    const cut = text.indexOf('=');
    if (cut < 1) {
      const expected = 'NAME=VALUE, such as mode=incremental';
      throw sumiError('bad-value', { option: '--set', value: text, place: 'flag --set', expected });
    }
    const option = optionOf(text.slice(0, cut).trim(), '--set');
    refuse(option);
    values[option] = text.slice(cut + 1).trim();
  }
  const { sources, unusedSettings } = await loadConfig({ env: {}, settings: { project, values } });
  const kept = Object.keys(values).sort() as OptionName[];
  // What an older version kept stays as it is until somebody drops it.
  const settingOf = (name: OptionName) =>
    unusedSettings.includes(name) ? values[name] : sources[name].value;
  return Object.fromEntries(kept.map((name) => [name, settingOf(name)]));
}

function optionOf(written: string, flag: string): OptionName {
  const name = written.replaceAll('_', '-');
  const alias = Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
  // An alias that counts otherwise, or sets more than one option, is no name of a single setting.
  const option =
    alias !== undefined && alias.unit === undefined && alias.also === undefined ? alias.option : name;
  if (isOptionName(option)) return option;
  const nearest = optionMeant(name, PROJECT_OPTIONS) ?? nearestName(name, PROJECT_OPTIONS);
  throw sumiError('unknown-option', { option: written, place: `flag ${flag}`, nearest });
}

function refuse(option: OptionName): void {
  const reason = whyNoSetting(option);
  if (reason !== null) throw sumiError('not-a-setting', { option, reason });
}

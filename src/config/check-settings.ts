/**
 * Checks options that came from somebody else, such as the body of an API request, all at once: every problem is named, not
 * only the first. Values are checked as those of every other source are. Changes nothing and reads no file.
 */

import { SumiError } from '../errors.ts';
import { checkMeaning } from './check-meaning.ts';
import { nearestName } from './nearest-name.ts';
import type { OptionSpec, OptionValue, SetBy } from './option-spec.ts';
import { ALIASES, isOptionName, OPTION_NAMES, OPTIONS, type OptionName } from './option-table.ts';
import { optionMeant } from './other-words.ts';
import { describeExpected, parseValue } from './parse-value.ts';
import { PROFILES } from './profiles.ts';
import { PROFILE_NAMES, type ProfileName } from './program.ts';
import { showValue } from './show-value.ts';

export interface SettingProblem {
  /** As it was written. */
  readonly option: string;
  /** As text, passwords masked and long values cut. */
  readonly value: string;
  readonly expected: string;
  /** Who may set the option; null where there is no such option. */
  readonly setBy: SetBy | null;
}

export interface CheckedSettings {
  /** What is right, as the configuration has it, by option name. */
  readonly values: Readonly<Partial<Record<OptionName, OptionValue>>>;
  readonly problems: readonly SettingProblem[];
}

/** Who asks: `operator` may set everything, `project` what a project may keep, `command` that and what is of a command. */
const MAY_SET: Readonly<Record<SetBy, readonly SetBy[]>> = {
  operator: ['operator', 'command', 'project'],
  command: ['command', 'project'],
  project: ['project'],
};

/** Names are those of docs/options.schema.json: `max-depth`, also written `max_depth`. */
export function checkSettings(given: Readonly<Record<string, unknown>>, setBy: SetBy): CheckedSettings {
  const values: Partial<Record<OptionName, OptionValue>> = {};
  const problems: SettingProblem[] = [];
  // Limits of the profile that is asked for; a profile that there is not is a problem of its own.
  const profile = PROFILE_NAMES.find((name) => name === given.profile) ?? 'site';
  for (const [written, value] of Object.entries(given)) {
    const option = optionCalled(written);
    if (!isOptionName(option)) {
      problems.push(unknown(written, value, setBy));
      continue;
    }
    const expected = problemOf(option, value, { setBy, profile });
    if (typeof expected === 'string')
      problems.push({
        option: written,
        value: showValue(value, OPTIONS[option]),
        expected,
        setBy: OPTIONS[option].setBy,
      });
    else values[option] = expected.value;
  }
  return { values, problems };
}

/** Another name of one option counts as that option, unless it is in another unit. */
function optionCalled(written: string): string {
  const name = written.replaceAll('_', '-');
  const alias = Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
  return alias === undefined || alias.unit !== undefined || alias.also !== undefined ? name : alias.option;
}

function unknown(option: string, value: unknown, setBy: SetBy): SettingProblem {
  const name = option.replaceAll('_', '-');
  const allowed = OPTION_NAMES.filter((known) => MAY_SET[setBy].includes(OPTIONS[known].setBy));
  const nearest = optionMeant(name, allowed) ?? nearestName(name, allowed);
  return {
    option,
    value: showValue(value),
    expected: `the name of an option, such as ${nearest}`,
    setBy: null,
  };
}

/** The value, or what was expected in its place. */
function problemOf(
  option: OptionName,
  raw: unknown,
  { setBy, profile }: { setBy: SetBy; profile: ProfileName },
): { value: OptionValue } | string {
  const spec: OptionSpec = { ...OPTIONS[option], ...PROFILES[profile].limits[option] };
  if (!MAY_SET[setBy].includes(spec.setBy))
    return spec.setBy === 'operator'
      ? 'no value: only the operator, who runs the program, may set it'
      : 'no value: it applies to a single command only';
  const parsed = parseValue(spec, raw);
  if (!('value' in parsed)) return parsed.expected;
  try {
    checkMeaning(option, parsed.value, 'settings');
  } catch (error) {
    if (!(error instanceof SumiError)) throw error;
    const { reason = error.message } = error.details as { reason?: string };
    return `${describeExpected(spec)} (${reason.replace(/\.$/, '')})`;
  }
  return parsed;
}

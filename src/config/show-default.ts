/** What holds where an option is not given, in help, in words that could be typed: `--delay "0.5 s"`. */
import type { OptionSpec, OptionValue } from './option-spec.ts';
import { OPTIONS, type OptionName, type ProfiledName } from './option-table.ts';
import { PROFILES } from './profiles.ts';
import { PROFILE_NAMES, type ProfileName } from './program.ts';

const SECONDS_IN = { d: 86_400, h: 3600, m: 60 } as const;
const BYTES_IN = { GB: 1024 ** 3, MB: 1024 ** 2, KB: 1024 } as const;

/**
 * For a command that may be given any profile (`site` unless said) the others are named where they differ; a command that
 * has its own profile shows that one's. Null where the option's sentence says what holds without it.
 */
export function showDefault(name: OptionName, profile: ProfileName): string | null {
  const spec: OptionSpec = OPTIONS[name];
  if (spec.default !== undefined) return showWord(name, spec.default);
  const own = profiledWord(name, profile);
  return profile === 'site' ? [own, ...otherProfiles(name, own)].join('; ') : own;
}

/** `terrain, sql: 1 s`, one entry for each value that is not the first one's. */
function otherProfiles(name: OptionName, own: string): string[] {
  const profiles = new Map<string, ProfileName[]>();
  for (const profile of PROFILE_NAMES) {
    const word = profiledWord(name, profile);
    if (word !== own) profiles.set(word, [...(profiles.get(word) ?? []), profile]);
  }
  return [...profiles].map(([word, names]) => `${names.join(', ')}: ${word}`);
}

function profiledWord(name: OptionName, profile: ProfileName): string {
  const value = PROFILES[profile].defaults[name as ProfiledName];
  // Its name is the flag of both forms, so the form that holds is said.
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : (showWord(name, value) ?? 'none');
}

function showWord(name: OptionName, value: OptionValue): string | null {
  const spec: OptionSpec = OPTIONS[name];
  if (value === null || (Array.isArray(value) && value.length === 0))
    return /\bwithout (it|them)\b/i.test(spec.doc) ? null : 'none';
  if (Array.isArray(value)) return value.join(spec.split === 'space' ? ' ' : ',');
  // Help shows the flag that changes something: --no-robots, with the other form as its default.
  if (typeof value === 'boolean') return value ? `--${name}` : 'off';
  if (spec.type === 'count') return value === 0 ? 'off' : String(value);
  if (spec.type === 'seconds') return showUnit(Number(value), SECONDS_IN, 's');
  if (spec.type === 'bytes') return showUnit(Number(value), BYTES_IN, 'B');
  return String(value);
}

/** In the largest unit that divides it: nobody reads 86400 s. */
function showUnit(value: number, sizes: Readonly<Record<string, number>>, plain: string): string {
  const found = Object.entries(sizes).find(([, size]) => value >= size && value % size === 0);
  return found === undefined ? `${value} ${plain}` : `${value / found[1]} ${found[0]}`;
}

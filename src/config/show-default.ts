/** What holds where an option is not given, as help says it. */
import type { OptionSpec, OptionValue } from './option-spec.ts';
import { OPTIONS, type OptionName, type ProfiledName } from './option-table.ts';
import { PROFILES } from './profiles.ts';
import type { ProfileName } from './program.ts';

const UNITS: readonly [seconds: number, one: string, many: string][] = [
  [86_400, 'day', 'days'],
  [3600, 'hour', 'hours'],
  [60, 'minute', 'minutes'],
];

/** Null where there is nothing to say: no value, or a switch whose name says what it changes. */
export function showDefault(name: OptionName, profile: ProfileName): string | null {
  const spec: OptionSpec = OPTIONS[name];
  const isProfiled = spec.default === undefined;
  const value = isProfiled ? PROFILES[profile].defaults[name as ProfiledName] : (spec.default ?? null);
  if (value === null) return name.startsWith('max-') ? 'no limit' : null;
  if (typeof value === 'boolean') return isProfiled ? (value ? 'on' : 'off') : null;
  if (spec.type === 'count' || value === '' || (Array.isArray(value) && value.length === 0)) return null;
  return showValue(spec, value);
}

function showValue(spec: OptionSpec, value: Exclude<OptionValue, null>): string {
  if (Array.isArray(value)) return value.join(', ');
  if (spec.type === 'seconds') return showTime(Number(value));
  if (spec.type === 'bytes') return `${Number(value) / 1024 ** 2} MB`;
  return String(value);
}

/** From an hour on in the largest unit that divides it: nobody reads 86400 s. */
function showTime(seconds: number): string {
  const unit = UNITS.find(([size]) => seconds >= 120 && seconds % size === 0);
  if (unit === undefined) return `${seconds} s`;
  const [size, one, many] = unit;
  return seconds === size ? `1 ${one}` : `${seconds / size} ${many}`;
}

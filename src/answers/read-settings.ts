/** Settings that a program sent, as option values; every problem is named with its pointer. */
import { readWireSettings, type WireLimits } from '../config/wire-settings.ts';
import { sumiError } from '../errors.ts';
import type { SettingChange } from '../running/engine.ts';

export function readSettingsOf(
  given: Readonly<Record<string, unknown>>,
  limits: WireLimits,
  pointer = '/settings',
): SettingChange {
  const { values, problems } = readWireSettings(given, limits);
  if (problems.length === 0) return values;
  const errors = problems.slice(0, 50).map(({ name, detail }) => ({
    pointer: `${pointer}/${name.slice(0, 200).replaceAll('~', '~0').replaceAll('/', '~1')}`,
    detail,
  }));
  if (problems.every(({ isRobots }) => isRobots)) throw sumiError('robots-fixed', { errors });
  const reason = errors
    .slice(0, 3)
    .map(({ pointer: place, detail }) => `${place.slice(1)}: ${detail.replace(/\.$/, '')}`)
    .join('; ');
  throw sumiError('request-invalid', { reason, errors });
}

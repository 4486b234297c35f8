/** Changes of what a project keeps of options: checked once more here, because the engine believes no door. */
import { checkSettings } from '../config/check-settings.ts';
import { loadConfig } from '../config/load-config.ts';
import { isOptionName, type OptionName } from '../config/option-table.ts';
import { PROFILE_NAMES } from '../config/program.ts';
import { sumiError } from '../errors.ts';
import { changeProject } from '../project/keep-projects.ts';
import type { StoredRun } from '../store/read-side.ts';
import type { Store } from '../store/store-port.ts';
import type { SettingChange } from './engine.ts';
import { SERVICE_DEFAULTS } from './plan-run.ts';

/** The operator's, but a project may say that it wants less than the operator allows. */
const ROBOTS: OptionName = 'robots';

/** Values as the option table has them; null leads back to the default. */
export function checkChange(change: SettingChange): void {
  const given = Object.entries(change).filter(
    ([name, value]) => value !== null && !(name === ROBOTS && typeof value === 'boolean'),
  );
  const { problems } = checkSettings(Object.fromEntries(given), 'project');
  const unknown = Object.keys(change).filter((name) => !isOptionName(name));
  if (problems.length === 0 && unknown.length === 0) return;
  const errors = problems.map(({ option, expected }) => ({
    pointer: `/settings/${option.replaceAll('-', '_')}`,
    detail: `expected ${expected}`,
  }));
  const [first] = errors;
  const reason = first === undefined ? `unknown setting ${unknown[0]}` : `${first.pointer}: ${first.detail}`;
  throw sumiError('request-invalid', { reason, errors });
}

/** Other changes of the project that are made at the same moment are not lost. */
export async function keepSettings(
  store: Pick<Store, 'projects'>,
  projectUid: string,
  change: SettingChange,
): Promise<void> {
  await changeProject(store, projectUid, { settings: change });
}

/** For a run that has options of its own by now: the values that null stands for. */
export async function settingsToDefaults(
  change: SettingChange,
  run: Pick<StoredRun, 'config'>,
): Promise<SettingChange> {
  const names = Object.keys(change).filter((name) => change[name as OptionName] === null) as OptionName[];
  if (names.length === 0) return change;
  const stored = (JSON.parse(run.config) as { profile?: string }).profile;
  const profile = PROFILE_NAMES.find((name) => name === stored);
  const { sources } = await loadConfig({ env: {}, profile, defaults: SERVICE_DEFAULTS });
  return { ...change, ...Object.fromEntries(names.map((name) => [name, sources[name].value])) };
}

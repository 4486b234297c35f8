/**
 * What follows from who may set an option (`setBy` in the option table, docs/decisions/0048-who-may-set-an-option.md):
 * what a project may keep, what a stored run passes on, and what whoever goes on with it has to give again.
 */
import { OPTION_NAMES, OPTIONS, type OptionName } from './option-table.ts';

/** A project may keep it: somebody who only reaches the API may set it. */
export function isProjectOption(name: OptionName): boolean {
  return OPTIONS[name].setBy === 'project';
}

/** A stored run passes it on to whoever goes on with the run, on this machine or on another. */
export function isPassedOn(name: OptionName): boolean {
  return isProjectOption(name) && OPTIONS[name].ofRun !== false;
}

/**
 * Options of the operator that shape what is crawled (a name server, where bodies go, whether robots.txt is obeyed). A run
 * records them, but passes none on: whoever goes on with the run gives them again.
 */
export const OPERATOR_CRAWL_OPTIONS: readonly OptionName[] = OPTION_NAMES.filter(
  (name) => OPTIONS[name].setBy === 'operator' && OPTIONS[name].hashed !== false,
);

/** What a message suggests for a mistyped name. */
export const PROJECT_OPTIONS: readonly OptionName[] = OPTION_NAMES.filter(isProjectOption);

/** Why a project cannot keep the option; null when it can. */
export function whyNoSetting(name: OptionName): string | null {
  const { setBy } = OPTIONS[name];
  if (setBy === 'project') return null;
  return setBy === 'operator'
    ? 'only the operator, who runs the program on this machine, may set it'
    : 'it applies to a single command only';
}

export interface SplitSettings {
  used: Readonly<Record<string, unknown>>;
  /** Kept by an older version, when a project could still keep them. */
  unused: readonly OptionName[];
}

/** Settings that a project may no longer keep do nothing, and do not stop the project's crawls either. */
export function splitSettings(values: Readonly<Record<string, unknown>>): SplitSettings {
  const isUnused = (name: string): name is OptionName =>
    Object.hasOwn(OPTIONS, name) && !isProjectOption(name as OptionName);
  return {
    used: Object.fromEntries(Object.entries(values).filter(([name]) => !isUnused(name))),
    unused: Object.keys(values).filter(isUnused).sort(),
  };
}

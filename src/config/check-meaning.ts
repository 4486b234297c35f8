/** What a schema cannot say of a value: patterns that compile, URLs that can be crawled, rules that can be read. */

import { sumiError } from '../errors.ts';
import { readAllowedTarget } from '../primitives/allowed-target.ts';
import { PATTERN_PRESETS } from '../scope/pattern-presets.ts';
import { compileUrlPattern, InvalidPatternError } from '../scope/url-pattern.ts';
import { nearestName } from './nearest-name.ts';
import type { OptionValue } from './option-spec.ts';
import type { OptionName } from './option-table.ts';
import { chooseProxies } from './proxies.ts';
import { parseResolveRule, type ResolveRule } from './resolve-rules.ts';
import { readStartUrl } from './start-url.ts';

type Check = (text: string, place: string) => void;

const CHECKS: Partial<Record<OptionName, Check>> = {
  include: (pattern, place) => checkPattern('include', pattern, place),
  'egress-allow': (text, place) => void readAllowedTarget(text, place),
  exclude: (pattern, place) => checkPattern('exclude', pattern, place),
  preset: checkPreset,
  proxy: (text, place) => void chooseProxies(text, place, {}),
  resolve: (text, place) => void readResolveRule(text, place),
  'start-urls': (text) => void readStartUrl(text),
};

/** Throws a SumiError that says what is wrong with the value, or with the first item that is wrong. */
export function checkMeaning(option: OptionName, value: OptionValue, place: string): void {
  const check = CHECKS[option];
  if (check === undefined || value === null) return;
  for (const text of Array.isArray(value) ? value : [value]) check(String(text), place);
}

export function readResolveRule(text: string, place: string): ResolveRule {
  const rule = parseResolveRule(text);
  if (rule === null) throw sumiError('resolve-malformed', { value: text, place });
  return rule;
}

function checkPattern(option: 'include' | 'exclude', pattern: string, place: string): void {
  try {
    compileUrlPattern(pattern);
  } catch (error) {
    if (!(error instanceof InvalidPatternError)) throw error;
    const { message: reason, hint: advice } = error;
    throw sumiError('invalid-pattern', { option, pattern, place, reason, advice }, error);
  }
}

function checkPreset(name: string, place: string): void {
  if (Object.hasOwn(PATTERN_PRESETS, name)) return;
  const known = Object.keys(PATTERN_PRESETS);
  const nearest = nearestName(name, known);
  throw sumiError('unknown-preset', { name, place, known: known.join(', '), nearest });
}

/**
 * The rule of an EXTRACT item, checked: its selector can be used, and its type can hold what it gives. What is wrong is
 * said with its place in the statement, before anything is requested.
 */
import { SumiError } from '../../errors.ts';
import { compileRules, type ExtractionRule } from '../../parse/extract/extraction-rule.ts';
import { valueTypeOf } from '../../parse/extract/typed-value.ts';
import { syntaxError } from './place.ts';
import type { ExtractItem } from './read-extract.ts';

/** Throws `selector-invalid` or `sql-syntax`, both with line and column. */
export function ruleOf(item: ExtractItem): ExtractionRule {
  const { rule, place } = item;
  checkType(item);
  try {
    compileRules([rule]);
  } catch (error) {
    if (!(error instanceof SumiError)) throw error;
    throw new SumiError(error.code, { ...error.details, ...place }, error.cause);
  }
  return rule;
}

/** Of the column that an item adds. */
export function columnTypeOf({ rule, type }: ExtractItem): string {
  return type ?? (isList(rule) ? 'VARCHAR[]' : 'VARCHAR');
}

const isList = (rule: ExtractionRule) => rule.kind === 'css' && rule.isAll;

/** Whether DuckDB has the type at all is known when the table is opened. */
function checkType({ rule, type, place, typePlace }: ExtractItem): void {
  if (type === null || !isList(rule)) return;
  const known = valueTypeOf(type);
  if (known === null || known.family === 'list' || known.family === 'json') return;
  throw syntaxError(
    typePlace ?? place,
    `ALL gives a list, and ${type} is none; expected ${type}[] or JSON`,
    `Write ${type}[], or remove ALL to take the first match.`,
  );
}

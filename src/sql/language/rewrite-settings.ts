/**
 * What DuckDB's own grammar has no room for. Two settings of CRAWL are no settings of DuckDB's core: http_timeout and http_keep_alive. SET, RESET and
 * current_setting('…') of them become variables of the connection, wherever they stand in a statement; all else stays
 * as it is. A macro cannot do this, and DuckDB would look for an extension in the net.
 */
import type { OptionSpec, OptionValue } from '../../config/option-spec.ts';
import { OPTIONS } from '../../config/option-table.ts';
import { parseValue } from '../../config/parse-value.ts';
import { lex, type Token } from './lex.ts';
import { placeOf, syntaxError } from './place.ts';

export interface RewrittenStatement {
  text: string;
  /** Where in the original the character at an offset of `text` stands (UTF-16), to place DuckDB's errors. */
  toOriginal(offset: number): number;
}

interface OwnSetting {
  variable: string;
  default: string;
  spec: OptionSpec;
}

const OWN_SETTINGS: Readonly<Record<string, OwnSetting>> = {
  http_timeout: { variable: 'sumi_http_timeout', default: '30', spec: OPTIONS.timeout },
  http_keep_alive: { variable: 'sumi_http_keep_alive', default: 'true', spec: OPTIONS['keep-alive'] },
};

/** What else may have to be written otherwise. */
const READS = /current_setting|fetch/i;

const ANY_OWN = new RegExp(Object.keys(OWN_SETTINGS).join('|'), 'i');

/** All settings that a CRAWL reads, as text in one row. The variables are of the user's connection: ask that one. */
export const SETTINGS_QUERY = `SELECT current_setting('threads')::VARCHAR AS threads,
  getvariable('sumi_http_timeout')::VARCHAR AS http_timeout,
  getvariable('sumi_http_keep_alive')::VARCHAR AS http_keep_alive,
  current_setting('http_proxy') AS http_proxy,
  current_setting('http_proxy_username') AS http_proxy_username,
  current_setting('http_proxy_password') AS http_proxy_password`;

/** A piece of the statement and what stands in its place. */
interface Change {
  start: number;
  end: number;
  text: string;
}

export function rewriteSettings(text: string): RewrittenStatement {
  // A name in E'…' may have escapes; hardly anybody writes one, and looking at every token costs little.
  if (!ANY_OWN.test(text) && !READS.test(text)) return { text, toOriginal: (offset) => offset };
  const tokens = lex(text);
  return apply(text, [...changesOfSet(text, tokens), ...changesOfReading(tokens), ...changesOfFetch(tokens)]);
}

const SCOPES = new Set(['SESSION', 'GLOBAL', 'LOCAL']);

/** The verbs that make a setting, and what becomes of them. */
const VERBS: Readonly<Record<string, (text: string, tokens: readonly Token[], at: number) => Change[]>> = {
  SET: (text, tokens, at) => {
    const sign = tokens[at + 1];
    if (sign?.text !== '=' && sign?.value !== 'TO') return [];
    return setVariable(text, tokens, at, at + 2);
  },
  PRAGMA: (text, tokens, at) => (tokens[at + 1]?.text === '=' ? setVariable(text, tokens, at, at + 2) : []),
  RESET: (_text, tokens, at) => [reset(tokens, at)],
};

function changesOfSet(text: string, tokens: readonly Token[]): Change[] {
  const verb = tokens[0]?.kind === 'word' ? tokens[0].value : '';
  if (!Object.hasOwn(VERBS, verb)) return [];
  const at = tokens[1]?.kind === 'word' && SCOPES.has(tokens[1].value) ? 2 : 1;
  return settingOf(tokens[at]) === null ? [] : VERBS[verb](text, tokens, at);
}

function settingOf(token: Token | undefined): OwnSetting | null {
  if (token === undefined || !/^(word|identifier|string)$/.test(token.kind)) return null;
  const name = token.value.toLowerCase();
  return Object.hasOwn(OWN_SETTINGS, name) ? OWN_SETTINGS[name] : null;
}

function reset(tokens: readonly Token[], at: number): Change {
  const { variable } = settingOf(tokens[at])!;
  return { start: tokens[0].start, end: tokens[at].end, text: `RESET VARIABLE ${variable}` };
}

/** What comes out of an expression is checked when a CRAWL reads it; a plain value here, where its place is known. */
function setVariable(text: string, tokens: readonly Token[], at: number, valueAt: number): Change[] {
  const setting = settingOf(tokens[at])!;
  const value = tokens[valueAt];
  const last = tokens.at(-1)!.text === ';' ? tokens.at(-2)! : tokens.at(-1)!;
  if (value === undefined || value.text === ';')
    throw syntaxError(
      placeOf(text, tokens[valueAt - 1].end),
      `the setting ${tokens[at].text} has no value; expected one after ${tokens[valueAt - 1].text}`,
      `Write SET ${tokens[at].text} = ${setting.default}.`,
    );
  const head = { start: tokens[0].start, end: value.start, text: `SET VARIABLE ${setting.variable} = ` };
  const literal = literalOf(tokens.slice(valueAt, tokens.indexOf(last) + 1));
  if (literal === null) return [head];
  if (literal.toLowerCase() === 'default')
    return [{ ...head, end: last.end, text: `RESET VARIABLE ${setting.variable}` }];
  const checked = checkValue(text, tokens[at], value, literal);
  return [head, { start: value.start, end: last.end, text: String(checked) }];
}

/** The text of a single value, perhaps with a sign; null for an expression. */
function literalOf(tokens: readonly Token[]): string | null {
  const isSigned = tokens.length === 2 && /^[-+]$/.test(tokens[0].text) && tokens[1].kind === 'number';
  const value = tokens[isSigned ? 1 : 0];
  if (tokens.length !== (isSigned ? 2 : 1)) return null;
  if (value.kind === 'number') return `${tokens[0].text === '-' ? '-' : ''}${value.text.replaceAll('_', '')}`;
  return value.kind === 'word' || value.kind === 'string' || value.kind === 'identifier' ? value.value : null;
}

function checkValue(text: string, name: Token, value: Token, literal: string): OptionValue {
  const setting = settingOf(name)!;
  const parsed = parseValue(setting.spec, literal.toLowerCase());
  if ('value' in parsed) return parsed.value;
  throw syntaxError(
    placeOf(text, value.start),
    `the setting ${name.text} is ${value.kind === 'symbol' ? literal : value.text}; expected ${parsed.expected}`,
    `Write SET ${name.text} = ${setting.default}, or RESET ${name.text}.`,
  );
}

/** current_setting('…') with a literal name; DuckDB has the function in main and system.main. */
function changesOfReading(tokens: readonly Token[]): Change[] {
  const changes: Change[] = [];
  for (const [index, token] of tokens.entries()) {
    if (!isName(token, 'CURRENT_SETTING') || tokens[index + 1]?.text !== '(') continue;
    const first = beginOfName(tokens, index);
    const end = endOfArgument(tokens, index + 1);
    if (first === null || end === null) continue;
    const setting = settingOf(tokens[end.name]);
    if (setting === null) continue;
    changes.push({
      start: tokens[first].start,
      end: tokens[end.last].end,
      text: `coalesce(getvariable('${setting.variable}'), ${setting.default})`,
    });
  }
  return changes;
}

/** fetch() is a function of ours, and FETCH a word of DuckDB's grammar: in quotes it is a name. */
function changesOfFetch(tokens: readonly Token[]): Change[] {
  return tokens.flatMap(({ kind, value, start, end }, index) =>
    kind === 'word' && value === 'FETCH' && tokens[index + 1]?.text === '('
      ? [{ start, end, text: '"fetch"' }]
      : [],
  );
}

function isName(token: Token | undefined, name: string): boolean {
  return (token?.kind === 'word' || token?.kind === 'identifier') && token.value.toUpperCase() === name;
}

/** Null for a function of somebody else's schema. */
function beginOfName(tokens: readonly Token[], index: number): number | null {
  if (tokens[index - 1]?.text !== '.') return index;
  if (!isName(tokens[index - 2], 'MAIN')) return null;
  if (tokens[index - 3]?.text !== '.') return index - 2;
  return isName(tokens[index - 4], 'SYSTEM') ? index - 4 : null;
}

/** From the bracket on: one string, perhaps in more brackets. */
function endOfArgument(tokens: readonly Token[], bracket: number): { name: number; last: number } | null {
  let name = bracket;
  while (tokens[name]?.text === '(') name++;
  const depth = name - bracket;
  if (tokens[name]?.kind !== 'string') return null;
  for (let step = 1; step <= depth; step++) if (tokens[name + step]?.text !== ')') return null;
  return { name, last: name + depth };
}

function apply(text: string, changes: readonly Change[]): RewrittenStatement {
  const inOrder = [...changes].sort((a, b) => a.start - b.start);
  const pieces: { from: number; original: number; isChanged: boolean }[] = [];
  let written = '';
  let done = 0;
  for (const { start, end, text: replacement } of inOrder) {
    // A setting may be read inside of the value of another: the change around it has it already.
    if (start < done) continue;
    pieces.push({ from: written.length, original: done, isChanged: false });
    written += text.slice(done, start);
    pieces.push({ from: written.length, original: start, isChanged: true });
    written += replacement;
    done = end;
  }
  pieces.push({ from: written.length, original: done, isChanged: false });
  written += text.slice(done);
  const toOriginal = (offset: number) => {
    const piece = pieces.findLast(({ from }) => from <= offset)!;
    return piece.isChanged ? piece.original : piece.original + offset - piece.from;
  };
  return { text: written, toOriginal };
}

// Compares what a command printed with what a page says. Promises: a line `…` stands for any lines, `…` within a line for
// any text of that line; ids, secrets, cursors and entity tags are learned where they are first printed, and have to be the
// same from then on; times and durations may differ. All else has to be printed as it stands.
import { VARYING_NUMBERS } from './show-json.ts';

/** What stands on the page, and what it was in this run. */
export type Learned = Map<string, string>;

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const SECRET = '(?:sumi_|whsec_)[\\w-]{20,}';
const NAMED = '(?<="(?:next_cursor|prev_cursor|secret)": ")[^"…]+(?=")';
const TAG = '(?<=^etag: ")[^"]+(?="$)';
const TIME = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z';
const NUMBER = `(?<="(?:${VARYING_NUMBERS})": )-?[\\d.]+`;

const PIECES = new RegExp(
  [
    `(?<learned>${UUID}|${SECRET}|${NAMED}|${TAG})`,
    `(?<time>${TIME})`,
    `(?<number>${NUMBER})`,
    '(?<lines>^ *…(?:\\n|$))',
    '(?<rest>…)',
  ].join('|'),
  'gm',
);

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether it was printed; what was not known yet is learned from it. */
export function matchPrinted(expected: string, printed: string, learned: Learned): boolean {
  const { pattern, names } = patternOf(expected.trimEnd(), learned);
  const found = new RegExp(`^${pattern}$`).exec(printed.trimEnd());
  if (found === null) return false;
  for (const [at, name] of names.entries()) learned.set(name, found.groups![`learned${at}`]);
  return true;
}

function patternOf(expected: string, learned: Learned): { pattern: string; names: string[] } {
  const names: string[] = [];
  let pattern = '';
  let from = 0;
  for (const { 0: text, index, groups } of expected.matchAll(PIECES)) {
    pattern += escaped(expected.slice(from, index));
    from = index + text.length;
    if (groups?.learned !== undefined) pattern += patternOfLearned(text, learned, names);
    else if (groups?.time !== undefined) pattern += TIME;
    else if (groups?.number !== undefined) pattern += '-?[\\d.]+(?:e-?\\d+)?';
    // The last line of the page may stand for nothing at all.
    else if (groups?.lines !== undefined) pattern += text.endsWith('\n') ? '(?:.*\\n)*?' : '[^]*';
    else pattern += '.*?';
  }
  return { pattern: pattern + escaped(expected.slice(from)), names };
}

function patternOfLearned(text: string, learned: Learned, names: string[]): string {
  const known = learned.get(text);
  if (known !== undefined) return escaped(known);
  const at = names.indexOf(text);
  if (at !== -1) return `\\k<learned${at}>`;
  names.push(text);
  return `(?<learned${names.length - 1}>[^"\\s]+)`;
}

/** With what was learned in place of what stands on the page. */
export function asLearned(text: string, learned: Learned): string {
  let out = text;
  for (const [onPage, real] of learned) out = out.replaceAll(onPage, real);
  return out;
}

// Reads a page of docs/ as a list of examples. A block of SQL is a script; the plain block right behind it is what it
// prints. A plain block with lines that begin with `$ ` has commands, each with what it prints.
import { type Step, stepsOf, withoutTimes as withoutPlainTimes } from '../readme/recipes.ts';

export type Example =
  | { kind: 'sql'; script: string; output: string }
  | { kind: 'commands'; text: string; steps: Step[] };

export function examplesOf(markdown: string): Example[] {
  const blocks = [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(({ 0: whole, 1: language, 2: text, index }, at): Example[] => {
    if (language === '' && /^\$ /m.test(text)) return [{ kind: 'commands', text, steps: stepsOf(text) }];
    if (language !== 'sql') return [];
    const next = blocks[at + 1];
    const isBehind = next?.[1] === '' && markdown.slice(index + whole.length, next.index).trim() === '';
    return [{ kind: 'sql', script: text, output: isBehind ? next[2] : '' }];
  });
}

/** What differs from one run to the next: times, durations, counts of a crawl under way, and widths that follow them. */
export function withoutTimes(text: string): string {
  return withoutPlainTimes(text)
    .replace(/\d{4}-\d\d-\d\d [\d:.]+/g, 'TIME')
    .replace(/\b\d+ ms\b/g, 'MS')
    .replace(/(│ (?:running|stopped) +)(?:│ +\d+ +)+/g, '$1│ COUNTS ')
    .replace(/─+/g, '─')
    .replace(/ +/g, ' ')
    .trimEnd();
}

/** Whether it was printed: a line `…` of the page stands for any lines. */
export function isPrinted(expected: string, printed: string): boolean {
  const text = withoutTimes(printed);
  const parts = withoutTimes(expected).split(/^…\n/m);
  let at = 0;
  for (const part of parts) {
    at = text.indexOf(part, at);
    if (at === -1) return false;
    at += part.length;
  }
  return text.startsWith(parts[0]) && at === text.length && text.endsWith(parts.at(-1)!);
}

/**
 * Changes as Markdown for an issue or a message: headings, lists, and a `diff` block that issue trackers colour.
 * Everything from the web is in code, where markup, @names and #numbers have no meaning.
 */

import type { ToldChange } from '../change/told-change.ts';
import type { DiffPiece } from '../change/visit-record.ts';
import { printable } from './terminal-text.ts';
import { type ChangesList, explainOutcome, showCounts, showStep } from './told-words.ts';

export async function* renderChangesMarkdown(list: ChangesList): AsyncGenerator<string> {
  const { title, note, counts } = list.heading;
  yield `# ${escapeMarkdown(title)}\n\n${escapeMarkdown(note)}\n`;
  if (counts.length > 0) yield `\n${showCounts(counts)}\n`;
  let isEmpty = true;
  for (const section of list.sections) {
    let isFirst = true;
    for await (const row of section.rows) {
      if (isFirst && section.title !== null) yield `\n## ${section.title}\n`;
      if (isFirst) yield '\n';
      isFirst = isEmpty = false;
      yield pageInMarkdown(row, list.showsRun);
    }
  }
  if (isEmpty) yield `\n${list.emptyText}\n`;
}

function pageInMarkdown(row: ToldChange, showsRun: boolean): string {
  const run = showsRun ? ` (run ${row.run}, ${row.visited_at.slice(0, 19)}Z)` : '';
  const said = explainOutcome(row);
  const item = `- **${row.outcome}** ${linkTo(row.url)}${said === '' ? '' : `: ${inCode(said)}`}${run}\n`;
  const lines = diffLines(row);
  if (lines.length === 0) return item;
  const fence = '`'.repeat(Math.max(3, longestTicks(lines.join('\n')) + 1));
  const block = [`${fence}diff`, ...lines, fence].map((line) => `  ${line}`).join('\n');
  return `${item}\n${block}\n\n`;
}

function diffLines(row: ToldChange): string[] {
  const lines: string[] = [];
  for (const { name, before, after } of row.fields) {
    if (before !== null) lines.push(`- ${name}: ${printable(before)}`);
    if (after !== null) lines.push(`+ ${name}: ${printable(after)}`);
  }
  for (const url of row.links_removed) lines.push(`- link: ${printable(url)}`);
  for (const url of row.links_added) lines.push(`+ link: ${printable(url)}`);
  const addWords = (pieces: readonly DiffPiece[]) => {
    for (const [kind, words] of pieces) lines.push(`${kind === '=' ? ' ' : kind} ${printable(words)}`);
  };
  addWords(row.text ?? []);
  for (const step of row.text_steps ?? []) {
    lines.push(`@@ ${showStep(step)} @@`);
    addWords(step.text ?? []);
  }
  return lines;
}

/** For our own words and names that the operator gave. */
function escapeMarkdown(text: string): string {
  return printable(text).replace(/[\\`*_{}[\]<>#!|~&]/g, '\\$&');
}

function longestTicks(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
}

/** A code span that its text cannot end (CommonMark 6.1). */
function inCode(text: string): string {
  const line = printable(text);
  const fence = '`'.repeat(longestTicks(line) + 1);
  const pad = /^`|`$/.test(line) ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** An autolink. Characters that could end it are percent-encoded. */
function linkTo(url: string): string {
  return `<${url.replace(/[\s<>\p{Cc}]/gu, (character) => encodeURIComponent(character))}>`;
}

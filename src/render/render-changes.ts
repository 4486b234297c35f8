/**
 * Changes as text for people: one line per page, and below it what changed. Removed words are [-so-], added words
 * {+so+}; on a terminal, colours say the same. Pieces are printed while rows are read. Everything from the web passes
 * through `printable`.
 */

import type { ToldChange, ToldOutcome } from '../change/told-change.ts';
import type { DiffPiece } from '../change/visit-record.ts';
import { type Paint, printable, widthOf } from './terminal-text.ts';
import { type ChangesList, explainOutcome, showCounts, showStep } from './told-words.ts';

const OUTCOME_WIDTH = 10;
const INDENT = '  ';
const LABEL_WIDTH = 17;
/** If the reader's width is not known. */
const PLAIN_WIDTH = 100;
const NARROWEST = 40;

type Colour = Parameters<Paint>[0];

const COLOURS: Record<ToldOutcome, Colour> = {
  new: 'green',
  added: 'green',
  changed: 'cyan',
  gone: 'red',
  removed: 'red',
  failed: 'yellow',
  unchanged: 'dim',
};

export async function* renderChanges(
  list: ChangesList,
  paint: Paint,
  terminalWidth: number | null,
): AsyncGenerator<string> {
  const { title, note, counts } = list.heading;
  yield `${paint('bold', printable(title))}\n${printable(note)}\n`;
  if (counts.length > 0) yield `${showCounts(counts)}\n`;
  const width = Math.max(NARROWEST, terminalWidth ?? PLAIN_WIDTH);
  let isEmpty = true;
  for (const { rows } of list.sections) {
    let isApart = true;
    for await (const row of rows) {
      const lines = renderChange(row, list.showsRun, paint, width);
      // A row with details stands apart; rows without details form a list.
      yield `${isApart || lines.length > 1 ? '\n' : ''}${lines.join('\n')}\n`;
      isApart = lines.length > 1;
      isEmpty = false;
    }
  }
  if (isEmpty) yield `\n${list.emptyText}\n`;
}

function renderChange(row: ToldChange, showsRun: boolean, paint: Paint, width: number): string[] {
  const outcome = paint(COLOURS[row.outcome], row.outcome.padEnd(OUTCOME_WIDTH));
  const run = showsRun ? `run ${row.run}, ${row.visited_at.slice(0, 19)}Z  ` : '';
  const said = printable(explainOutcome(row));
  const lines = [`${outcome}${run}${printable(row.url)}${said === '' ? '' : `  ${paint('dim', said)}`}`];
  const add = (label: string, texts: readonly string[]) => {
    for (const [i, text] of texts.entries())
      lines.push(`${INDENT}${(i === 0 ? label : '').padEnd(LABEL_WIDTH)}${text}`);
  };
  for (const { name, before, after } of row.fields)
    add(name, [`${shown(before)} ${paint('dim', '→')} ${shown(after)}`]);
  add('links', [
    ...row.links_added.map((url) => paint('green', `+ ${printable(url)}`)),
    ...row.links_removed.map((url) => paint('red', `- ${printable(url)}`)),
  ]);
  const addWords = (pieces: readonly DiffPiece[]) =>
    lines.push(...wrapDiff(pieces, paint, width - 2 * INDENT.length).map((line) => INDENT + INDENT + line));
  if (row.text !== null) {
    add('text', [`+${row.words_added} -${row.words_removed} words`]);
    addWords(row.text);
  }
  for (const [i, step] of (row.text_steps ?? []).entries()) {
    add(i === 0 ? 'text' : '', [showStep(step)]);
    addWords(step.text ?? []);
  }
  return lines;
}

function shown(value: string | null): string {
  return value === null ? 'none' : printable(value);
}

/** Words in lines of the given width. The marks of a part are at its first and last word. */
function wrapDiff(pieces: readonly DiffPiece[], paint: Paint, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const [kind, text] of pieces) {
    const marked = kind === '-' ? `[-${text}-]` : kind === '+' ? `{+${text}+}` : text;
    for (const word of printable(marked).split(' ')) {
      const size = widthOf(word);
      if (used > 0 && used + 1 + size > width) {
        lines.push(line);
        line = '';
        used = 0;
      }
      const painted = kind === '-' ? paint('red', word) : kind === '+' ? paint('green', word) : word;
      line += used === 0 ? painted : ` ${painted}`;
      used += size + (used === 0 ? 0 : 1);
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}

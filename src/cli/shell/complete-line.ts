/** What the Tab key offers: names of dot commands and what follows them, and for SQL what DuckDB knows. */
import { printable } from '../../render/terminal-text.ts';
import { RESULT_FORMATS } from '../../sql/output/result-format.ts';
import type { SqlSession } from '../../sql/sql-session.ts';
import { DOT_COMMANDS } from './dot-commands.ts';

/** Words that may take the place of the end of the line, and that end. */
export type Completion = [words: string[], replaced: string];

/** `before`: the lines of the statement above this one, each with its line end. */
export async function completeLine(
  session: Pick<SqlSession, 'complete'>,
  before: string,
  line: string,
): Promise<Completion> {
  if (before === '' && line.trimStart().startsWith('.')) return completeDot(line.trimStart());
  const { words, start } = await session.complete(before + line);
  const replaced = (before + line).slice(start);
  // A word that began on a line above cannot be changed any more.
  if (start < before.length) return [[], ''];
  return [
    words.map((word) => inCaseOf(replaced, printable(word))).filter((word) => extendsWord(word, replaced)),
    replaced,
  ];
}

function completeDot(line: string): Completion {
  const [, command, typed] = /^(\.\w+)\s+(\S*)$/.exec(line) ?? [];
  if (command === undefined)
    return [DOT_COMMANDS.map(({ name }) => name).filter((name) => name.startsWith(line)), line];
  const following =
    command === '.mode' || command === '.format' ? RESULT_FORMATS : command === '.timer' ? ['on', 'off'] : [];
  return [following.filter((word) => word.startsWith(typed)), typed];
}

/** DuckDB also offers words that are only like what was typed: they would replace it. */
function extendsWord(word: string, typed: string): boolean {
  return word.toLowerCase().startsWith(typed.toLowerCase());
}

/** Who types keywords in small letters gets them so. */
function inCaseOf(typed: string, word: string): string {
  const isSmall = typed !== '' && typed === typed.toLowerCase() && typed !== typed.toUpperCase();
  return isSmall && word === word.toUpperCase() ? word.toLowerCase() : word;
}

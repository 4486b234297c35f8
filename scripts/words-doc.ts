// docs/words.md is written by hand but for its two tables: those are made of the table of counting words, so that they
// cannot go stale.
import {
  COUNTING_WORD_NAMES,
  COUNTING_WORDS,
  CRAWLED_PAGES_STATUS,
  ERROR_WORDS,
  wordOf,
} from '../src/frontier/counting-words.ts';
import { PAGE_STATES, type PageState } from '../src/frontier/page-state.ts';

const shown = (word: string) => word.replace('_', '-');

function wordsTable(): string {
  const rows = COUNTING_WORD_NAMES.map(
    (word) =>
      `| **${shown(word)}** | ${COUNTING_WORDS[word].states.join(', ')} | ${COUNTING_WORDS[word].about} |`,
  );
  const errors = `| **errors** | ${ERROR_WORDS.flatMap((word) => COUNTING_WORDS[word].states).join(', ')} | ${ERROR_WORDS.map(shown).join(' and ')} together: what the lists of reasons count. |`;
  return ['| word | states | what it says of a URL |', '| --- | --- | --- |', ...rows, errors].join('\n');
}

function statesTable(): string {
  const rows = (Object.keys(PAGE_STATES) as PageState[]).map(
    (state) => `| ${state} | ${shown(wordOf(state))} | ${CRAWLED_PAGES_STATUS[state] ?? '–'} |`,
  );
  return ['| state | counts as | `status` in `crawled_pages` |', '| --- | --- | --- |', ...rows].join('\n');
}

/** Puts the tables between their marks. */
export function fillWords(markdown: string): string {
  const tables: Record<string, string> = { words: wordsTable(), states: statesTable() };
  return markdown.replace(
    /(<!-- table: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => `${start}\n${tables[name]}\n\n${end}`,
  );
}

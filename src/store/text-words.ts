/**
 * The words of a text for searches, the same for every store: letters and digits, small, without accents. Scripts that are
 * written without spaces give a word a letter. The databases are given these words and divide nothing themselves, so
 * that both find the same pages.
 */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}])+/gu;
/** Longer ones are no words of a language. */
const LONGEST_WORD = 64;
/** Different words of one page, in letters: what PostgreSQL takes for one page is limited. */
const MOST_LETTERS = 400_000;

/** Each once, in the order of the text. */
export function wordsOf(text: string): string[] {
  const words = new Set<string>();
  let letters = 0;
  const plain = text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '');
  for (const [word] of plain.matchAll(WORD)) {
    if (word.length > LONGEST_WORD || words.has(word)) continue;
    letters += word.length + 1;
    if (letters > MOST_LETTERS) break;
    words.add(word);
  }
  return [...words];
}

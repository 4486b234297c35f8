/** How many URLs are known and what became of them, in the words of docs/words.md. Pure text. */
import { COUNTING_WORD_NAMES, type UrlCounts } from '../frontier/counting-words.ts';
import { showCount, showMany } from './terminal-text.ts';

/** "12 known URLs: 8 read, 3 broken, 1 skipped": words with a count of 0 are left out. */
export function describeUrls(counts: UrlCounts): string {
  const words = COUNTING_WORD_NAMES.filter((word) => counts[word] > 0).map(
    (word) => `${showCount(counts[word])} ${word.replace('_', '-')}`,
  );
  const known = showMany(counts.known_urls, 'known URL');
  return words.length === 0 ? known : `${known}: ${words.join(', ')}`;
}

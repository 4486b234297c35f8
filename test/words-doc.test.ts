import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { fillWords } from '../scripts/words-doc.ts';
import { COUNTING_WORDS } from '../src/frontier/counting-words.ts';

const doc = readFileSync(new URL('../docs/words.md', import.meta.url), 'utf8');

it('docs/words.md has the tables of src/frontier/counting-words.ts (else: npm run docs)', () => {
  expect(doc.match(/^<!-- table: \w+ -->$/gm)).toEqual(['<!-- table: words -->', '<!-- table: states -->']);
  expect(doc).toBe(fillWords(doc));
  for (const word of Object.keys(COUNTING_WORDS)) expect(doc).toContain(`| **${word.replace('_', '-')}** |`);
});

it('a table that is stale is noticed', () => {
  const stale = '<!-- table: words -->\nold\n<!-- end -->\n';
  expect(fillWords(stale)).not.toBe(stale);
});

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
  const found = plainWordsOf(text.toLowerCase()) ?? dividedWords(text);
  const words: string[] = [];
  let letters = 0;
  for (const word of found) {
    if (word.length > LONGEST_WORD) continue;
    letters += word.length + 1;
    if (letters > MOST_LETTERS) break;
    words.push(word);
  }
  return words;
}

/** By the rule itself; slow. */
function dividedWords(text: string): Set<string> {
  const plain = text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '');
  return new Set(Array.from(plain.matchAll(WORD), ([word]) => word));
}

/** What a character is in a plain pass: it ends a word, is a part of one as it is, or takes the rule itself. */
const [BETWEEN, PART, BY_RULE] = [0, 1, 2];
const KNOWN_CHARACTERS = 0x2070;
/** Quotes, dashes and the like of Latin-1 and of the block of general punctuation: nothing of them is in a word. */
const isSign = (code: number) =>
  (code >= 0x80 && code <= 0xbf && dividedWords(String.fromCharCode(code)).size === 0) || code >= 0x2000;
const KINDS = Uint8Array.from({ length: KNOWN_CHARACTERS }, (_, code) => {
  if (code >= 0x80) return isSign(code) ? BETWEEN : BY_RULE;
  return /[a-z0-9]/.test(String.fromCharCode(code)) ? PART : BETWEEN;
});

const SLOTS = 1 << 16;
/** A slot holds a word of this text only where its stamp is that of the text. */
const stamps = new Int32Array(SLOTS);
const places = new Int32Array(SLOTS);
let stamp = 0;

/** How texts with letters beyond ASCII are divided: the same names come again on page after page. */
const divided = new Map<string, readonly string[]>();
const MOST_DIVIDED = 20_000;

/**
 * The same words, found in one pass without making a text of any word that was there before: several times as fast. What
 * has letters beyond ASCII is divided by the rule itself. Null where there are too many words for the table.
 */
function plainWordsOf(text: string): readonly string[] | null {
  stamp = (stamp + 1) | 0;
  const words: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const start = at;
    let hash = 0;
    let kinds = PART;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const kind = code < KNOWN_CHARACTERS ? KINDS[code] : BY_RULE;
      if (kind === BETWEEN) break;
      kinds |= kind;
      hash = Math.imul(hash ^ code, 0x01000193);
    }
    if (at === start) continue;
    if (kinds === PART) {
      if (isNew(words, hash, text, start, at)) words.push(text.slice(start, at));
    } else {
      for (const word of dividedBefore(text.slice(start, at)))
        if (isNew(words, hashOf(word), word, 0, word.length)) words.push(word);
    }
    if (words.length > SLOTS / 2) return null;
  }
  return words;
}

function dividedBefore(text: string): readonly string[] {
  let words = divided.get(text);
  if (words === undefined) {
    words = [...dividedWords(text)];
    if (divided.size >= MOST_DIVIDED) divided.clear();
    divided.set(text, words);
  }
  return words;
}

function hashOf(word: string): number {
  let hash = 0;
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash;
}

/** The word is text[start..end]; a new one takes the next place among the words. */
function isNew(words: readonly string[], hash: number, text: string, start: number, end: number): boolean {
  let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  for (; stamps[slot] === stamp; slot = (slot + 1) & (SLOTS - 1)) {
    const known = words[places[slot]];
    if (known.length === end - start && stands(known, text, start)) return false;
  }
  stamps[slot] = stamp;
  places[slot] = words.length;
  return true;
}

function stands(word: string, text: string, start: number): boolean {
  for (let at = 0; at < word.length; at++)
    if (word.charCodeAt(at) !== text.charCodeAt(start + at)) return false;
  return true;
}

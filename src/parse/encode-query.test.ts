// Judged by Node's decoders: what was encoded is decoded again, for every letter that a charset has.
import { describe, expect, it } from 'vitest';
import { encodeQuery, queryCharset } from './encode-query.ts';

const CHARSETS =
  'windows-1250 iso-8859-2 iso-8859-7 koi8-r windows-1251 gbk gb18030 big5 euc-jp iso-2022-jp shift_jis euc-kr'.split(
    ' ',
  );
/** Node's tables of these two are not those of the standard beyond their own letters. */
const OWN_LETTERS: Record<string, string> = { big5: '中文漢字日本😀', 'euc-kr': '한국어漢字😀' };
const LETTERS = 'äöüßéñżčαβγжщю日本語中文漢字한국어かなカナ€–“”😀\u2028';

function decode(query: string, charset: string): string {
  const bytes = Buffer.from(
    query.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
  return new TextDecoder(charset, { fatal: true })
    .decode(bytes)
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}

describe('the query of a link', () => {
  for (const charset of CHARSETS) {
    it(`comes back from ${charset} as it was`, () => {
      const letters = OWN_LETTERS[charset] ?? LETTERS;
      for (const letter of [...letters, letters]) {
        const encoded = encodeQuery(`/p?${letter}=x y`, charset);
        expect(encoded).toMatch(/^\/p\?[!$-&(-;=?-~]+$/);
        expect([charset, decode(encoded.slice(3), charset)]).toEqual([charset, `${letter}=x y`]);
      }
    });
  }

  it('is sent as browsers send it', () => {
    expect(encodeQuery('?q=ä', 'windows-1252')).toBe('?q=%E4');
    expect(encodeQuery('?q=あ', 'euc-jp')).toBe('?q=%A4%A2');
    expect(encodeQuery('?q=日', 'iso-2022-jp')).toBe('?q=%1B$BF|%1B(B');
    expect(encodeQuery('?q=€', 'iso-8859-2')).toBe('?q=%26%238364%3B');
  });

  it('is left as it is where there is nothing to encode, and so is the path', () => {
    for (const href of ['/ä', '/ä?q=a%20b&c=%E4', '', '?', 'http://ä.test/'])
      expect(encodeQuery(href, 'windows-1252')).toBe(href);
  });

  it('is UTF-8 on pages in UTF-8 or UTF-16, and on those that nobody can read', () => {
    for (const charset of ['utf-8', 'utf-16le', 'utf-16be', 'replacement'])
      expect(queryCharset(charset)).toBeNull();
    expect(queryCharset('gbk')).toBe('gbk');
  });
});

// The labels of the WHATWG Encoding standard (https://encoding.spec.whatwg.org/#names-and-labels), all of them: each gives
// its encoding, in the header and in a meta, and no body in any of them makes the reader throw.
import { describe, expect, it } from 'vitest';
import { createUtf8Reader, encodingOfLabel } from './charset.ts';
import { parseMimeType } from './mime-type.ts';

const LABELS: Record<string, string> = {
  'utf-8': 'unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8',
  ibm866: '866 cp866 csibm866 ibm866',
  'iso-8859-2': 'csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2',
  'iso-8859-3': 'csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3',
  'iso-8859-4': 'csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4',
  'iso-8859-5':
    'csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988',
  'iso-8859-6':
    'arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987',
  'iso-8859-7':
    'csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek',
  'iso-8859-8':
    'csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual',
  'iso-8859-8-i': 'csiso88598i iso-8859-8-i logical',
  'iso-8859-10': 'csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6',
  'iso-8859-13': 'iso-8859-13 iso8859-13 iso885913',
  'iso-8859-14': 'iso-8859-14 iso8859-14 iso885914',
  'iso-8859-15': 'csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9',
  'iso-8859-16': 'iso-8859-16',
  'koi8-r': 'cskoi8r koi koi8 koi8-r koi8_r',
  'koi8-u': 'koi8-ru koi8-u',
  macintosh: 'csmacintosh mac macintosh x-mac-roman',
  'windows-874': 'dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874',
  'windows-1250': 'cp1250 windows-1250 x-cp1250',
  'windows-1251': 'cp1251 windows-1251 x-cp1251',
  'windows-1252':
    'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252',
  'windows-1253': 'cp1253 windows-1253 x-cp1253',
  'windows-1254':
    'cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254',
  'windows-1255': 'cp1255 windows-1255 x-cp1255',
  'windows-1256': 'cp1256 windows-1256 x-cp1256',
  'windows-1257': 'cp1257 windows-1257 x-cp1257',
  'windows-1258': 'cp1258 windows-1258 x-cp1258',
  'x-mac-cyrillic': 'x-mac-cyrillic x-mac-ukrainian',
  gbk: 'chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk',
  gb18030: 'gb18030',
  big5: 'big5 big5-hkscs cn-big5 csbig5 x-x-big5',
  'euc-jp': 'cseucpkdfmtjapanese euc-jp x-euc-jp',
  'iso-2022-jp': 'csiso2022jp iso-2022-jp',
  shift_jis: 'csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis',
  'euc-kr':
    'cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949',
  replacement: 'csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement',
  'utf-16be': 'unicodefffe utf-16be',
  'utf-16le': 'csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le',
  'x-user-defined': 'x-user-defined',
};
const ENCODINGS = Object.entries(LABELS).map(([name, labels]) => ({ name, labels: labels.split(' ') }));

/** A tag, every byte there is, and a half of a sequence at the end. */
const EVERY_BYTE = Buffer.concat([
  Buffer.from('<p>a'),
  Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
  Buffer.from([0x1b, 0x24, 0x81]),
]);

const read = createUtf8Reader();
const textOf = (body: Buffer, contentType: string) => {
  const { bytes, length, charset } = read(body, body.length, parseMimeType(contentType));
  return { text: Buffer.from(bytes.subarray(0, length)).toString(), charset };
};

/** Node knows most of them; the text is then judged by it. */
function nodeDecoder(label: string): InstanceType<typeof TextDecoder> | null {
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}

describe('the labels of the Encoding standard', () => {
  it('are all here, and Node agrees where it knows them', () => {
    expect(ENCODINGS).toHaveLength(40);
    const labels = ENCODINGS.flatMap((encoding) => encoding.labels);
    expect(labels).toHaveLength(228);
    expect(new Set(labels).size).toBe(228);
    let judged = 0;
    for (const { name, labels } of ENCODINGS) {
      for (const label of labels) {
        const decoder = nodeDecoder(label);
        if (decoder !== null) expect([label, decoder.encoding]).toEqual([label, name]);
        if (decoder !== null) judged++;
      }
    }
    expect(judged).toBeGreaterThan(200);
  });

  for (const { name, labels } of ENCODINGS) {
    it(`of ${name} are known, and nothing in it throws`, () => {
      for (const label of labels) {
        expect([label, encodingOfLabel(label)]).toEqual([label, name]);
        expect(textOf(EVERY_BYTE, `text/html; charset=${label}`).charset).toBe(name);
        expect(textOf(Buffer.alloc(0), `text/html; charset=${label}`).text).toBe('');
        const inMeta = Buffer.concat([Buffer.from(`<meta charset="${label}">`), EVERY_BYTE]);
        // Read in a meta, these cannot be what they say (HTML standard, prescan).
        const meant = name.startsWith('utf-16') ? 'utf-8' : name === 'x-user-defined' ? 'windows-1252' : name;
        expect([label, textOf(inMeta, 'text/html').charset]).toEqual([label, meant]);
      }
    });
  }

  it('of replacement give one U+FFFD for a body, and nothing for none', () => {
    for (const label of LABELS.replacement.split(' ')) {
      const header = `text/html; charset=${label}`;
      expect(textOf(Buffer.from('<a href=/x>x</a>'), header)).toEqual({
        text: '\ufffd',
        charset: 'replacement',
      });
      expect(textOf(Buffer.alloc(0), header).text).toBe('');
    }
  });

  it('that nobody knows leave the page to be read as one without a label', () => {
    for (const label of ['utf-7', 'cesu-8', 'no such thing', '', '\ufffd', 'x'.repeat(10_000)])
      expect(textOf(Buffer.from('<p>é'), `text/html; charset="${label}"`)).toEqual({
        text: '<p>é',
        charset: 'utf-8',
      });
  });
});

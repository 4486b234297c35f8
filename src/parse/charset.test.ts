import { describe, expect, it } from 'vitest';
import { createUtf8Reader, encodingOfLabel } from './charset.ts';
import { parseMimeType } from './mime-type.ts';

const read = createUtf8Reader();

function readText(body: Uint8Array, contentType: string | null): { text: string; charset: string } {
  const { bytes, length, charset } = read(
    body,
    body.length,
    contentType === null ? null : parseMimeType(contentType),
  );
  expect(bytes[length]).toBe(0);
  return { text: Buffer.from(bytes.subarray(0, length)).toString(), charset };
}

describe('the character encoding of a body', () => {
  it('is that of the byte order mark before that of the header', () => {
    const body = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('<p>é', 'utf16le')]);
    const { text, charset } = readText(body, 'text/html; charset=utf-8');
    expect(charset).toBe('utf-16le');
    expect(text.replace('\ufeff', '')).toBe('<p>é');
  });

  it('is that of the header before that of the meta', () => {
    const body = Buffer.from('<meta charset=utf-8>\xe9', 'latin1');
    expect(readText(body, 'text/html; charset=iso-8859-1')).toEqual({
      text: '<meta charset=utf-8>é',
      charset: 'windows-1252',
    });
  });

  it('is that of the meta, also when the bytes happen to be valid UTF-8', () => {
    const body = Buffer.from('<meta charset="windows-1252">Ã©');
    expect(readText(body, 'text/html')).toEqual({
      text: '<meta charset="windows-1252">Ãƒ\u00c2\u00a9'.replace('\u00c2\u00a9', 'Â©'),
      charset: 'windows-1252',
    });
  });

  it('is UTF-8 where nothing is declared and the body is valid UTF-8, else windows-1252', () => {
    expect(readText(Buffer.from('<p>été'), 'text/html').charset).toBe('utf-8');
    expect(readText(Buffer.from('<p>\xe9', 'latin1'), null)).toEqual({
      text: '<p>é',
      charset: 'windows-1252',
    });
  });

  it('decodes 0x80 to 0x9f of windows-1252 as browsers do', () => {
    const body = Buffer.from([0x80, 0x93, 0x81, 0x9f]);
    expect(readText(body, 'text/html; charset=latin1').text).toBe('€“\u0081Ÿ');
  });

  it('decodes other encodings, and replaces what is broken', () => {
    expect(readText(Buffer.from([0x93, 0xfa, 0x96, 0x7b]), 'text/html; charset=shift_jis').text).toBe('日本');
    expect(readText(Buffer.from([0x61, 0xff, 0x62]), 'text/html; charset=utf-8').text).toBe('a\ufffdb');
  });

  it('is ISO-2022-JP where its escape sequences stand, however late it is declared', () => {
    const japanese = '<title>\x1b$BF|K\\\x1b(B</title>';
    const late = `<!--${'x'.repeat(2000)}--><meta charset="iso-2022-jp">${japanese}`;
    for (const body of [late, japanese, `<meta charset=iso-2022-jp>${japanese}`]) {
      const read = readText(Buffer.from(body), 'text/html');
      expect(read.charset).toBe('iso-2022-jp');
      expect(read.text).toContain('<title>日本</title>');
    }
    // What is declared counts, and a lone escape is none.
    expect(readText(Buffer.from(`<meta charset=utf-8>${japanese}`), 'text/html').charset).toBe('utf-8');
    expect(readText(Buffer.from(japanese), 'text/html; charset=utf-8').charset).toBe('utf-8');
    expect(readText(Buffer.from('<p>\x1b[1mbold\x1b'), 'text/html').charset).toBe('utf-8');
  });

  it('leaves a UTF-8 body with a 0 behind it where it is', () => {
    const body = Buffer.from('<p>été\0');
    expect(read(body, body.length - 1, null).bytes).toBe(body);
  });

  it('knows labels and says null for unknown ones', () => {
    expect(encodingOfLabel(' Latin1 ')).toBe('windows-1252');
    expect(encodingOfLabel('utf8')).toBe('utf-8');
    expect(encodingOfLabel('unicode-1-1-utf-8')).toBe('utf-8');
    expect(encodingOfLabel('nonsense')).toBeNull();
  });
});

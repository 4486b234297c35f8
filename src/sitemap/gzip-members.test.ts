import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../test/seeded-random.ts';
import { GzipMembers } from './gzip-members.ts';

const TEXT = Array.from({ length: 20_000 }, (_, n) => `${n} is a number. `).join('');
const HALF = TEXT.length >> 1;
const ONE = gzipSync(TEXT);
const TWO = Buffer.concat([gzipSync(TEXT.slice(0, HALF)), gzipSync(TEXT.slice(HALF))]);

/** What comes out of bytes that are written in pieces of such sizes, and the error that ended it. */
async function unpack(bytes: Buffer, sizes: () => number): Promise<{ text: string; error: string | null }> {
  const stream = new GzipMembers(1000);
  const pieces: Buffer[] = [];
  let error: string | null = null;
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  stream.on('error', (fault) => {
    error = fault.message;
  });
  const closed = once(stream, 'close');
  for (let at = 0; at < bytes.length; ) {
    const size = sizes();
    stream.write(bytes.subarray(at, at + size));
    at += size;
  }
  stream.end();
  await closed.catch(() => {});
  return { text: Buffer.concat(pieces).toString(), error };
}

const whole = () => Number.MAX_SAFE_INTEGER;

describe('GzipMembers', () => {
  it.each([
    ['nothing', ''],
    ['line ends', '\r\n\r\n'],
    ['text', '<!-- cached -->'],
    ['zeros', '\0\0\0\0'],
    ['a piece of a header', '\x1f\x8b'],
    ['much of anything', 'no gzip '.repeat(50_000)],
  ])('gives all members and passes over %s behind them, however they are cut', async (_, tail) => {
    const random = seededRandom(7);
    for (const packed of [ONE, TWO]) {
      const bytes = Buffer.concat([packed, Buffer.from(tail, 'latin1')]);
      expect(await unpack(bytes, whole)).toEqual({ text: TEXT, error: null });
      expect(await unpack(bytes, () => 1 + random.below(3000))).toEqual({ text: TEXT, error: null });
      const atTheEnd = [packed.length - 3, 1, 1, 1, 1];
      expect(await unpack(bytes, () => atTheEnd.shift() ?? 5)).toEqual({ text: TEXT, error: null });
    }
  });

  it('is one byte at a time the same', async () => {
    const little = Buffer.concat([
      gzipSync('a'),
      gzipSync('b'),
      gzipSync(''),
      gzipSync('c'),
      Buffer.from('\n'),
    ]);
    expect(await unpack(little, () => 1)).toEqual({ text: 'abc', error: null });
  });

  it('gives what could be unpacked of one that breaks off, and says so', async () => {
    const cut = await unpack(ONE.subarray(0, ONE.length >> 1), whole);
    expect(cut.error).toBe('unexpected end of file');
    expect(cut.text.length).toBeGreaterThan(TEXT.length / 4);
    expect(TEXT.startsWith(cut.text)).toBe(true);
    expect((await unpack(ONE.subarray(0, 5), whole)).error).toBe('unexpected end of file');
    expect((await unpack(ONE.subarray(0, -1), whole)).error).toBe('unexpected end of file');
  });

  it('tells a wrong checksum, a wrong size and what was never gzip', async () => {
    const wrong = (at: number) => {
      const bytes = Buffer.from(ONE);
      bytes[bytes.length - at] ^= 1;
      return unpack(bytes, whole);
    };
    expect((await wrong(8)).error).toBe('incorrect data check');
    expect((await wrong(4)).error).toBe('incorrect length check');
    expect(await unpack(Buffer.from('<urlset>'), whole)).toEqual({
      text: '',
      error: 'incorrect header check',
    });
  });
});

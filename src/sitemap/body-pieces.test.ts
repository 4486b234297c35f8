import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import { systemClock } from '../primitives/clock.ts';
import { createPieceQueue } from './body-pieces.ts';

async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts).toString();
}

/** The body as a fetcher hands it over: in one buffer that is used again and again. */
function handOver(body: Uint8Array, encoding: string | null): Promise<string> {
  const queue = createPieceQueue(systemClock.after);
  const buffer = Buffer.alloc(7);
  for (let at = 0; at < body.length; at += buffer.length) {
    const piece = body.subarray(at, at + buffer.length);
    buffer.set(piece);
    expect(queue.push(buffer.subarray(0, piece.length))).toBe(true);
  }
  queue.end();
  return textOf(queue.read(encoding));
}

const TEXT = 'a sitemap of sorts, '.repeat(200);
/** Far more, in hardly more bytes. */
const LONG = TEXT.repeat(2000);

describe('a body in pieces', () => {
  it.each([
    ['as it is', null, Buffer.from(TEXT)],
    ['packed by gzip', 'gzip', gzipSync(TEXT)],
    ['packed by gzip under its old name', 'x-gzip', gzipSync(TEXT)],
    ['packed by brotli', 'br', brotliCompressSync(TEXT)],
    ['packed by brotli in no time', 'br', brotliCompressSync(LONG), LONG],
    ['that is only called gzip', 'gzip', Buffer.from(TEXT)],
    ['whose encoding is none', 'utf-8', Buffer.from(TEXT)],
  ])('%s comes out whole', async (_, encoding, body, text = TEXT) => {
    expect((await handOver(body, encoding)) === text).toBe(true);
  });

  it('that breaks off gives what could be unpacked', async () => {
    const long = Array.from({ length: 20_000 }, (_, n) => `${(n * 7919) % 104729}`).join(' ');
    const packed = gzipSync(long);
    const read = await handOver(packed.subarray(0, packed.length >> 1), 'gzip');
    expect(read.length).toBeGreaterThan(1000);
    expect(long.startsWith(read)).toBe(true);
  });

  it('is read while it comes, and wants no more once nobody reads on', async () => {
    const queue = createPieceQueue(systemClock.after);
    const reading = queue.read(null);
    const first = reading.next();
    queue.push(Buffer.from('one'));
    await queue.begun;
    expect(Buffer.from((await first).value as Uint8Array).toString()).toBe('one');
    await reading.return();
    expect(queue.push(Buffer.from('two'))).toBe(false);
  });

  it('makes the sender wait while much of it is not read yet, until little is left', async () => {
    const clock = new FakeClock();
    const queue = createPieceQueue((delayMs, callback) => clock.after(delayMs, callback));
    const piece = Buffer.alloc(64 * 1024);
    let pushed = 0;
    let held: boolean | Promise<void> = true;
    while (held === true && pushed < 100) {
      held = queue.push(piece);
      pushed++;
    }
    expect(pushed).toBe(9);
    let isReleased = false;
    void (held as Promise<void>).then(() => {
      isReleased = true;
    });
    const reading = queue.read(null);
    for (let taken = 1; taken <= 6; taken++) {
      // However slow: it goes on.
      clock.advance(900);
      await reading.next();
      expect(isReleased).toBe(false);
    }
    await reading.next();
    await held;
    expect(queue.push(piece)).toBe(true);
    expect(clock.pending).toBe(0);
    await reading.return();
  });

  it('is taken in whole where its reader stands still', async () => {
    const clock = new FakeClock();
    const queue = createPieceQueue((delayMs, callback) => clock.after(delayMs, callback));
    const held = queue.push(Buffer.alloc(1024 * 1024));
    expect(held).toBeInstanceOf(Promise);
    clock.advance(1000);
    await held;
    expect(queue.push(Buffer.alloc(1024 * 1024))).toBe(true);
    queue.end();
    expect((await textOf(queue.read(null))).length).toBe(2 * 1024 * 1024);
  });

  it('of nothing is over at once', async () => {
    const queue = createPieceQueue(systemClock.after);
    queue.end();
    await queue.begun;
    expect(await textOf(queue.read(null))).toBe('');
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('unpacks a bomb no further than it is read: %s', async (coding, pack) => {
    const zeros = Buffer.alloc(64 * 1024 * 1024);
    const bomb = pack(zeros);
    const queue = createPieceQueue(systemClock.after);
    queue.push(bomb);
    queue.end();
    const before = process.memoryUsage().arrayBuffers;
    const reading = queue.read(coding);
    await reading.next();
    // Whatever else it could do by now.
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
    // They must not be swept away meanwhile, and counted as room.
    expect(zeros).toHaveLength(64 * 1024 * 1024);
    await reading.return();
  });
});

import { describe, expect, it } from 'vitest';
import { createBufferPool } from './buffer-pool.ts';

describe('the buffer pool', () => {
  it('gives a released buffer out again', () => {
    const pool = createBufferPool();
    const first = pool.acquire(20_000);
    pool.release(first);
    expect(pool.acquire(30_000)).toBe(first);
    expect(pool.keptBytes()).toBe(0);
  });

  it('gives at least the size asked for', () => {
    const pool = createBufferPool();
    for (const size of [0, 1, 16_384, 16_385, 32_768, 32_769, 1 << 20, (1 << 20) + 1, 10_000_001]) {
      expect(pool.acquire(size).length).toBeGreaterThanOrEqual(size);
    }
  });

  it('never gives a small buffer for a large need', () => {
    const pool = createBufferPool();
    pool.release(pool.acquire(100));
    expect(pool.acquire(100_000).length).toBeGreaterThanOrEqual(100_000);
  });

  it('keeps no buffer over a megabyte', () => {
    const pool = createBufferPool();
    pool.release(pool.acquire((1 << 20) + 1));
    expect(pool.keptBytes()).toBe(0);
  });

  it('keeps no more than its bound', () => {
    const pool = createBufferPool(40_000);
    const buffers = [pool.acquire(1), pool.acquire(1), pool.acquire(1)];
    for (const bytes of buffers) pool.release(bytes);
    expect(pool.keptBytes()).toBe(32_768);
  });
});

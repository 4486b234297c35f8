import { describe, expect, it } from 'vitest';
import { type WaitingPage, WaitingPages } from './waiting-pages.ts';

const page = (pageId: number, rank = 1): WaitingPage => ({
  ...{ pageId, rank, priority: rank, url: `https://a.test/${pageId}`, fetchUrl: null },
  ...{ depth: 1, attempts: 0, hops: 0, last: null },
});
const idsOf = (pages: WaitingPage[]) => pages.map(({ pageId }) => pageId);
const MINUTE = 60_000;

describe('a window on a queue', () => {
  it('keeps what is queued while the database is asked, whose answer does not know of it', () => {
    const window = new WaitingPages();
    window.expect();
    window.queue(page(7));
    window.load([page(3)], true, null, 0);
    expect(idsOf(window.take(9))).toEqual([3, 7]);
    // Not whole: what comes after the last is the database's matter, until its answer says that there is nothing more.
    window.load([page(8)], false, null, 0);
    window.expect();
    window.queue(page(9));
    expect(window.size).toBe(1);
    window.load([], true, null, 0);
    expect(idsOf(window.take(9))).toEqual([8, 9]);
  });

  it('gives nothing twice that was queued and taken while the database was asked', () => {
    const window = new WaitingPages();
    window.load([], true, null, 0);
    window.expect();
    window.queue(page(5));
    expect(idsOf(window.take(1))).toEqual([5]);
    window.load([], true, null, 0);
    expect(window.size).toBe(0);
  });

  it('puts in front what a redirect led to while the database was asked, wherever its answer has it', () => {
    const window = new WaitingPages();
    window.expect();
    window.queue(page(9));
    window.hurry(9, -1, 1);
    window.hurry(4, -1, 2);
    window.load([page(3), page(4)], true, null, 0);
    expect(window.take(9).map(({ pageId, hops }) => [pageId, hops])).toEqual([
      [4, 2],
      [9, 1],
      [3, 0],
    ]);
  });

  it('remembers a retry that the answer does not know of', () => {
    const window = new WaitingPages();
    window.nextRetryAt = 500;
    window.load([], true, null, 0);
    expect(window.nextRetryAt).toBe(500);
  });

  it('grows for a host that uses it up at once, and for no other', () => {
    const [slow, fast] = [new WaitingPages(), new WaitingPages()];
    const first = slow.window;
    for (let n = 0; n < 5; n++) slow.load([], false, null, n * MINUTE);
    for (let n = 0; n < 5; n++) fast.load([], false, null, n);
    expect(slow.window).toBe(first);
    expect(fast.window).toBeGreaterThan(8 * first);
  });

  it('tells whoever waits of the next page that comes into it', async () => {
    const window = new WaitingPages();
    window.load([], true, null, 0);
    const heard: string[] = [];
    const arrival = window.arrival().then(() => heard.push('arrived'));
    await Promise.resolve();
    expect(heard).toEqual([]);
    window.queue(page(5));
    await arrival;
    window.queue(page(5));
    const next = window.arrival();
    window.queue(page(6));
    await next;
    expect(window.size).toBe(2);
  });

  it('is as wide at once as a host that takes many at a time needs it, and keeps what is queued meanwhile', () => {
    const window = new WaitingPages();
    window.load([], true, null, 0);
    window.widen(500);
    window.widen(100);
    expect(window.window).toBe(500);
    for (let id = 1; id <= 900; id++) window.queue(page(id));
    expect([window.size, window.isWhole]).toEqual([900, true]);
    for (let id = 901; id <= 1001; id++) window.queue(page(id));
    expect([window.size, window.isWhole]).toEqual([500, false]);
    window.widen(5000);
    for (const at of [1, 2, 3]) window.load([], false, null, at);
    expect(window.window).toBe(5000);
  });
});

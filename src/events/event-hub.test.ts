import { expect, it } from 'vitest';
import { createEventHub } from './event-hub.ts';
import type { CrawlEvent, PageEvent } from './events.ts';

const PAGE = { type: 'page', page_id: 7, url: 'http://a.test/' } as PageEvent;
const MODE = { type: 'mode', mode: 'full', reason: 'said so' } as const;
const STAMP = { run: 3, project: 'shop', time: '1970-01-01T00:00:01.000Z' };
const CLOCK = { now: () => 1000 };
const WITHOUT_PAGES = ['run', 'host', 'progress'] as const;

it('makes page events only for those who want them', () => {
  const events = createEventHub(CLOCK);
  events.ofRun(3, 'shop');
  const told: Record<'all' | 'run', CrawlEvent[]> = { all: [], run: [] };
  expect(events.wantsPages).toBe(false);
  events.subscribe((event) => told.run.push(event), WITHOUT_PAGES);
  expect(events.wantsPages).toBe(false);
  const end = events.subscribe((event) => told.all.push(event));
  expect(events.wantsPages).toBe(true);
  events.emit(PAGE);
  events.emit(MODE);
  const [page, mode] = [
    { ...PAGE, ...STAMP },
    { ...MODE, ...STAMP },
  ];
  expect(told).toEqual({ all: [page, mode], run: [mode] });
  end();
  expect(events.wantsPages).toBe(false);
  events.emit(MODE);
  expect(told).toEqual({ all: [page, mode], run: [mode, mode] });
});

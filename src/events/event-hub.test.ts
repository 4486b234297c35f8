import { expect, it } from 'vitest';
import { createEventHub } from './event-hub.ts';
import type { CrawlEvent, PageEvent } from './events.ts';

const PAGE = { type: 'page', url: 'http://a.test/' } as PageEvent;
const MODE: CrawlEvent = { type: 'mode', mode: 'full', reason: 'said so' };

it('makes page events only for those who want them', () => {
  const events = createEventHub();
  const told: Record<'all' | 'run', CrawlEvent[]> = { all: [], run: [] };
  expect(events.wantsPages).toBe(false);
  events.listen((event) => told.run.push(event), false);
  expect(events.wantsPages).toBe(false);
  events.listen((event) => told.all.push(event));
  expect(events.wantsPages).toBe(true);
  events.page(PAGE);
  events.emit(MODE);
  expect(told).toEqual({ all: [PAGE, MODE], run: [MODE] });
});

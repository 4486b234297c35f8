import { expect, it } from 'vitest';
import { createReport } from './event-hub.ts';
import type { CrawlEvent, PageEvent } from './events.ts';

const PAGE = { type: 'page', url: 'http://a.test/' } as PageEvent;
const MODE: CrawlEvent = { type: 'mode', mode: 'full', reason: 'said so' };

it('makes page events only for those who want them', () => {
  const report = createReport();
  const told: Record<'all' | 'run', CrawlEvent[]> = { all: [], run: [] };
  expect(report.wantsPages).toBe(false);
  report.listen((event) => told.run.push(event), false);
  expect(report.wantsPages).toBe(false);
  report.listen((event) => told.all.push(event));
  expect(report.wantsPages).toBe(true);
  report.page(PAGE);
  report.tell(MODE);
  expect(told).toEqual({ all: [PAGE, MODE], run: [MODE] });
});

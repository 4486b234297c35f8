import { describe, expect, it } from 'vitest';
import type { Config } from '../config/load-config.ts';
import type { CrawlEvent } from '../report/events.ts';
import { patientCompiler } from './patient-compiler.ts';

const flagsSet = (mode: string, ...events: object[]) => flagsWith(0, mode, ...events);

function flagsWith(delay: number, mode: string, ...events: object[]): string[] {
  const set: string[] = [];
  const listen = patientCompiler({ delay, mode } as Config, (flags) => set.push(flags));
  for (const event of events) listen(event as CrawlEvent);
  return set;
}

const run = (known: number, resumed = false) => ({ type: 'run', known_urls: known, resumed });

describe('the compiler', () => {
  it('waits longer in an incremental run over known pages', () => {
    expect(flagsSet('incremental', run(5000))).toEqual(['--interrupt-budget=600000']);
  });

  it('does not where pages are read: a first run, one that goes on, a full one', () => {
    expect(flagsSet('incremental', run(0))).toEqual([]);
    expect(flagsSet('incremental', run(5000, true))).toEqual([]);
    expect(flagsSet('full', run(5000))).toEqual([]);
  });

  it('waits a while in a polite crawl, which has the time', () => {
    expect(flagsWith(1, 'full', run(0))).toEqual(['--interrupt-budget=200000']);
    expect(flagsWith(1, 'incremental', run(5000))).toEqual(['--interrupt-budget=600000']);
  });

  it('waits longer once a smart run has decided to go on incrementally', () => {
    const decided = (mode: string) => ({ type: 'mode', mode });
    expect(flagsSet('smart', run(5000))).toEqual([]);
    expect(flagsSet('smart', run(5000), decided('full'))).toEqual([]);
    expect(flagsSet('smart', run(5000), decided('incremental'))).toHaveLength(1);
  });
});

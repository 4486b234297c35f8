import { execFileSync } from 'node:child_process';
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

const [V8S_OWN, PATIENT, VERY_PATIENT] = [67_584, 200_000, 600_000].map((n) => `--interrupt-budget=${n}`);

describe('the compiler', () => {
  it('waits longer until the run begins, whatever it will be', () => {
    expect(flagsSet('full')).toEqual([VERY_PATIENT]);
  });

  it('goes on to do so in an incremental run over known pages', () => {
    expect(flagsSet('incremental', run(5000)).at(-1)).toBe(VERY_PATIENT);
  });

  it('does not where pages are read: a first run, one that goes on, a full one', () => {
    expect(flagsSet('incremental', run(0)).at(-1)).toBe(V8S_OWN);
    expect(flagsSet('incremental', run(5000, true)).at(-1)).toBe(V8S_OWN);
    expect(flagsSet('full', run(5000)).at(-1)).toBe(V8S_OWN);
  });

  it('waits a while in a polite crawl, which has the time', () => {
    expect(flagsWith(1, 'full', run(0)).at(-1)).toBe(PATIENT);
    expect(flagsWith(1, 'incremental', run(5000)).at(-1)).toBe(VERY_PATIENT);
  });

  it('waits longer once a smart run has decided to go on incrementally', () => {
    const decided = (mode: string) => ({ type: 'mode', mode });
    expect(flagsSet('smart', run(5000)).at(-1)).toBe(V8S_OWN);
    expect(flagsSet('smart', run(5000), decided('full')).at(-1)).toBe(V8S_OWN);
    expect(flagsSet('smart', run(5000), decided('incremental')).at(-1)).toBe(VERY_PATIENT);
  });

  it('has the number of this V8 for its own', () => {
    const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
    const [, number] = /--interrupt-budget \(.*\n.*default: (?:--interrupt-budget=)?(\d+)/.exec(options)!;
    expect(`--interrupt-budget=${number}`).toBe(V8S_OWN);
  });
});

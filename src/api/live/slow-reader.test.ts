import { describe, expect, it } from 'vitest';
import type { LiveEvent } from '../../running/live-event.ts';
import type { Phase } from '../../running/phase.ts';
import { createSlowReader } from './slow-reader.ts';

const phase = (pages: number) => ({ state: 'running', pages_crawled: pages }) as Phase;

function heard(seq: number, what: 'progress' | 'host' | 'completed', project = 'p') {
  const stamp = { project_id: project, run: 1, seq, at: '2026-01-01T00:00:00.000Z' };
  const event = (
    what === 'host'
      ? { ...stamp, type: what, host: { host: 'a', what: 'robots', detail: 'x'.repeat(100), until: null } }
      : { ...stamp, type: what, phase: phase(seq) }
  ) as LiveEvent;
  const json = JSON.stringify(event);
  return { event, json, bytes: Buffer.from(json), phase: phase(seq) };
}

/** A connection with room for some bytes, which are gone when it reads. */
function connection(mostBytes: number) {
  const sent: LiveEvent[] = [];
  let waitingBytes = 0;
  const outlet = {
    get waitingBytes() {
      return waitingBytes;
    },
    send(event: LiveEvent, json: string) {
      sent.push(event);
      waitingBytes += json.length;
    },
  };
  const reader = createSlowReader(outlet, mostBytes);
  return {
    ...{ sent, reader },
    waiting: () => waitingBytes,
    read() {
      waitingBytes = 0;
      reader.drained();
    },
  };
}

describe('a client that does not read', () => {
  it('has no more than the limit waiting, whatever happens', () => {
    const { reader, waiting, sent } = connection(1000);
    for (let seq = 1; seq <= 500; seq++) reader.push(heard(seq, seq % 2 === 0 ? 'host' : 'progress'));
    expect(waiting()).toBeLessThanOrEqual(1000);
    expect(sent.length).toBeGreaterThan(2);
  });

  it('gets one event with the present phase when it reads again, then everything', () => {
    const { reader, sent, read } = connection(600);
    for (let seq = 1; seq <= 50; seq++) reader.push(heard(seq, 'host'));
    const before = sent.length;
    read();
    expect(sent.slice(before)).toEqual([
      { type: 'progress', project_id: 'p', run: 1, seq: 50, at: expect.any(String), phase: phase(50) },
    ]);
    reader.push(heard(51, 'host'));
    expect(sent.at(-1)?.seq).toBe(51);
  });

  it('is told the end of a run, also where something was left out after it', () => {
    const { reader, sent, read } = connection(600);
    for (let seq = 1; seq <= 5; seq++) reader.push(heard(seq, 'host'));
    reader.push(heard(6, 'completed'));
    reader.push(heard(7, 'host'));
    read();
    expect(sent.at(-1)).toMatchObject({ type: 'completed', seq: 7, phase: phase(7) });
  });

  it('gets one event a project', () => {
    const { reader, sent, read } = connection(200);
    for (let seq = 1; seq <= 5; seq++)
      for (const project of ['p', 'q']) reader.push(heard(seq, 'host', project));
    const before = sent.length;
    read();
    read();
    expect(sent.slice(before).map(({ project_id, seq }) => [project_id, seq])).toEqual([
      ['p', 5],
      ['q', 5],
    ]);
  });

  it('is owed nothing of a project that it left', () => {
    const { reader, sent, read } = connection(200);
    for (let seq = 1; seq <= 5; seq++) reader.push(heard(seq, 'host'));
    const before = sent.length;
    reader.drop('p');
    read();
    expect(sent).toHaveLength(before);
  });
});

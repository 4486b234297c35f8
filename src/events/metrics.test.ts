import { describe, expect, it } from 'vitest';
import { type LoopReading, renderMetrics } from './metrics.ts';

const READING: LoopReading = {
  run: 3,
  project: 'shop "and" more\nlines\\',
  pages: 12,
  states: new Map([
    ['Processed', 10],
    ['DeadLink', 2],
  ]),
  outcomes: new Map([
    ['2xx', { requests: 11, bytes: 5000 }],
    ['timeout-headers', { requests: 1, bytes: 0 }],
  ]),
  waiting: 7,
  inFlight: 2,
  hosts: 5,
  cooling: 3,
  lagMs: 20,
  storeSilentMs: 0,
  storeAnswerMs: 4,
};
const PROCESS = {
  residentBytes: 1000,
  heapBytes: 500,
  cpuSeconds: 1.5,
  upSeconds: 9,
  hostsWaiting: 41,
  version: '1.2.3',
};

describe('metrics', () => {
  const text = renderMetrics([READING, { ...READING, run: 4, project: 'b' }], PROCESS);

  it('have HELP and TYPE once a name, and then its series', () => {
    const lines = text.trimEnd().split('\n');
    const names = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2]);
    expect(new Set(names).size).toBe(names.length);
    let current = '';
    for (const line of lines) {
      const help = /^# HELP (\w+) \S/.exec(line);
      if (help) current = help[1];
      else if (line.startsWith('#')) expect(line).toMatch(new RegExp(`^# TYPE ${current} (counter|gauge)$`));
      else expect(line).toMatch(new RegExp(`^${current}(\\{[^\\n]*\\})? [0-9.e+-]+$`));
    }
    for (const name of names) expect(name).toMatch(/^sumi_[a-z_]+$/);
  });

  it('tell pages, requests and bytes by outcome, run and project', () => {
    expect(text).toContain('sumi_pages_total{run="4",project="b"} 12\n');
    expect(text).toContain('sumi_pages_settled_total{run="4",project="b",state="DeadLink"} 2\n');
    expect(text).toContain('sumi_requests_total{run="4",project="b",outcome="timeout-headers"} 1\n');
    expect(text).toContain('sumi_received_bytes_total{run="4",project="b",outcome="2xx"} 5000\n');
    expect(text).toContain('sumi_hosts_cooling{run="4",project="b"} 3\n');
  });

  it('escape what stands in labels', () => {
    expect(text).toContain('project="shop \\"and\\" more\\nlines\\\\"');
  });

  it('tell of the process, and how many hosts wait for more workers', () => {
    expect(text).toContain('\nsumi_hosts_waiting 41\n');
    expect(text).toContain('\nsumi_runs 2\n');
    expect(text).toContain('\nsumi_event_loop_lag_seconds 0.02\n');
    expect(text).toContain('\nsumi_store_answer_seconds 0.004\n');
    expect(text).toContain('sumi_build_info{version="1.2.3"} 1\n');
  });

  it('leave out what nobody can tell', () => {
    const idle = renderMetrics([], { ...PROCESS, hostsWaiting: null });
    expect(idle).not.toContain('sumi_hosts_waiting');
    expect(idle).not.toContain('sumi_pages_total');
    expect(idle).toContain('\nsumi_runs 0\n');
  });
});

/** A graph of a million edges passes through `sumi export` in bounded memory, as XML, as text and as a table. */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fillStore } from '../graph/fill-store.ts';
import { COMMAND, makeFolder } from './run-sumi.ts';

const MAP = { pages: 50_000, linksAPage: 20, hosts: 300, quality: 5 };
const MOST_MEGABYTES = 500;
/** The most memory the process ever had, in kilobytes, as the system counted it. */
const TELL_PEAK = `data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>writeSync(2,'peak%20'+process.resourceUsage().maxRSS))`;

const folder = makeFolder();
beforeAll(() => fillStore(folder.file('sumi.db'), MAP));
afterAll(() => folder.remove());

it(`takes less than ${MOST_MEGABYTES} MB`, () => {
  const peaks: Record<string, number> = {};
  for (const format of ['gexf', 'jsonl', 'parquet']) {
    const out = `graph.${format}`;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', TELL_PEAK, COMMAND, 'export', '--out', out],
      { cwd: folder.path, encoding: 'utf8' },
    );
    expect([format, status, stdout]).toEqual([
      format,
      0,
      expect.stringMatching(/^50[, ]?000 nodes and 1[, ]?000[, ]?000 edges/),
    ]);
    peaks[format] = Math.round(Number(/peak (\d+)$/.exec(stderr)![1]) / 1024);
    expect(statSync(folder.file(out)).size).toBeGreaterThan(1_000_000);
  }
  console.info(`peak memory of an export of a million edges, MB: ${JSON.stringify(peaks)}`);
  expect(Math.max(...Object.values(peaks))).toBeLessThan(MOST_MEGABYTES);
});

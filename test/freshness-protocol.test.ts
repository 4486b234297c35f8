/** `bench:freshness` before a judge that does not keep to its own protocol. */
import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const START = [
  '{"type":"init","protocol":1,"pages":2,"hosts":1,"days":3,"ticksPerDay":24,"budgetPerDay":24,"start":"full","hostCapPerTick":null}',
  '{"type":"page","id":0,"host":0,"depth":0,"weight":0.6,"inSitemap":false,"lastFetch":0,"lastModified":null}',
  '{"type":"page","id":1,"host":0,"depth":1,"weight":0.4,"inSitemap":true,"lastFetch":null,"lastModified":null}',
  '{"type":"ready"}',
];

/** Standard input stays open: who refuses a line does not wait for the rest. */
async function speak(lines: readonly string[], ...args: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'bench/freshness.ts', ...args]);
  const told = { stdout: '', stderr: '' };
  child.stdout.on('data', (data) => {
    told.stdout += data;
  });
  child.stderr.on('data', (data) => {
    told.stderr += data;
  });
  child.stdin.on('error', () => {});
  child.stdin.write(lines.map((line) => `${line}\n`).join(''));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return {
    code,
    stderr: told.stderr,
    answers: told.stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  };
}

describe('bench:freshness', () => {
  it('passes over empty lines, and takes a tick without signals for one that has none', async () => {
    const ticks = [
      '',
      '{"type":"tick","t":0,"k":1}',
      '  ',
      '{"type":"results","t":0,"results":[[1,1,null]]}',
      '{"type":"tick","t":1,"k":2,"signals":[[0,0.5]]}',
      '{"type":"bye"}',
    ];
    const { code, stderr, answers } = await speak(['', ...START, ...ticks]);
    expect([code, stderr]).toEqual([0, '']);
    expect(answers).toMatchObject([
      { type: 'ready' },
      { type: 'fetch', fetch: [1], pChanged: [null] },
      { type: 'fetch', fetch: expect.arrayContaining([0, 1]) },
    ]);
  });

  it.each([
    ['line 1 is not JSON', ['tick']],
    ['line 1 is not a JSON object', ['[1]']],
    ['line 1 is a page that came before init', [START[1]]],
    ['line 3 is a page that has the id 1; expected 0', [START[0], '', START[2]]],
    ['line 3 is a ready that came after 1 of 2 pages', [...START.slice(0, 2), START[3]]],
    [
      'line 6 has the type "unknown"; expected one of init, page, ready',
      [...START, '', '{"type":"unknown"}'],
    ],
    [
      'line 5 has no good k in its tick; expected a whole number',
      [...START, '{"type":"tick","t":1,"k":1.5}'],
    ],
    ['line 5 has no good signals in its tick', [...START, '{"type":"tick","t":1,"k":1,"signals":[[9,1]]}']],
    ['line 5 has no good results in its results', [...START, '{"type":"results","t":1}']],
    ['line 5 is a page that came after ready', [...START, START[1]]],
  ])('ends with one line about what is no message: %s', async (words, lines) => {
    const { code, stderr } = await speak(lines);
    expect(stderr).toContain(words);
    expect([code, stderr.trimEnd().split('\n')]).toEqual([2, [expect.any(String)]]);
  });

  it('refuses a rule that is none in one line, too', async () => {
    const { code, stderr } = await speak([], '--revisit', 'often');
    expect([code, stderr]).toEqual([
      2,
      'bench:freshness: --revisit cannot be often; expected one of value, score, bands\n',
    ]);
  });
});

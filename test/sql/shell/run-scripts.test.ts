import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runScripts } from '../../../src/cli/shell/run-scripts.ts';
import { sumiError } from '../../../src/errors.ts';
import type { ResultFormat } from '../../../src/sql/output/result-format.ts';
import { type Answers, type FakeSession, fakeSession, fakeStream } from './fakes.ts';

interface Played {
  answers?: Answers;
  format?: ResultFormat;
  out?: NodeJS.WriteStream;
  session?: FakeSession;
  nowMs?: () => number;
}

function play(
  texts: readonly string[],
  { answers, format = 'table', nowMs = () => 0, ...given }: Played = {},
) {
  const session = given.session ?? fakeSession(answers);
  const [out, err] = [fakeStream(), fakeStream()];
  let signal: () => void = () => {};
  let left = 0;
  const done = runScripts({
    open: async () => session,
    scripts: texts.map((text, i) => ({ text, source: i === 0 ? null : `${i}.sql` })),
    format,
    out: given.out ?? out.stream,
    err: err.stream,
    nowMs,
    onSignal: (listener) => {
      signal = listener;
      return () => {};
    },
    leaveAtOnce: () => {
      left++;
    },
  });
  return { done, session, out, err, left: () => left, interrupt: () => signal() };
}

const broken = sumiError('sql-syntax', { problem: 'no INTO', advice: 'Add it.', line: 1, column: 3 });

describe('scripts', () => {
  it('print results only on standard output, wait for background crawls and close', async () => {
    const { done, session, out, err } = play(['SELECT 1', 'SELECT 2'], {
      answers: { '1': 'one\n', '2': ['t', 'wo\n'] },
    });
    expect(await done).toBe(0);
    expect(out.text()).toBe('one\ntwo\n');
    expect(err.text()).toBe('');
    expect(session.asked).toEqual(['rest', 'close']);
  });

  it('stop at the first error, which names its place', async () => {
    const { done, session, out, err } = play(['a', 'broken', 'c'], { answers: { a: 'a\n', broken } });
    expect(await done).toBe(2);
    expect(session.ran).toEqual(['a', 'broken']);
    expect(session.asked).toEqual(['close']);
    expect(out.text()).toBe('a\n');
    expect(err.text()).toContain('1.sql, line 1: broken\n');
  });

  it('give programs the error as one object, and nothing else on standard error', async () => {
    for (const format of ['json', 'jsonl'] as const) {
      const session = fakeSession({ broken });
      const run = session.run.bind(session);
      session.run = (script, options) => {
        session.notice('the table lacks 3 columns');
        return run(script, options);
      };
      const { done, err } = play(['broken'], { session, format });
      expect(await done).toBe(2);
      expect(JSON.parse(err.text())).toEqual({
        code: 'sql-syntax',
        message: 'The SQL statement cannot be read: no INTO.',
        hint: 'Add it.',
        line: 1,
        column: 3,
      });
    }
  });

  it('end by Ctrl-C in good order with exit code 3', async () => {
    const { done, session, err, interrupt } = play(['long', 'never'], { answers: { long: 'hang' } });
    await new Promise(setImmediate);
    interrupt();
    expect(await done).toBe(3);
    expect(session.ran).toEqual(['long']);
    expect(session.asked).toEqual(['interrupt', 'close']);
    expect(err.text()).toContain('sql-interrupted');
  });

  it('end by Ctrl-C while background crawls are waited for', async () => {
    const session = fakeSession();
    session.rest = () => new Promise(() => {});
    const { done, err, interrupt } = play(['x'], { session, format: 'json' });
    await new Promise(setImmediate);
    interrupt();
    expect(await done).toBe(3);
    expect(session.asked.at(-1)).toBe('close');
    expect(JSON.parse(err.text()).code).toBe('sql-interrupted');
  });

  it('leave at once when Ctrl-C comes again', async () => {
    const session = fakeSession({ long: 'hang' });
    session.interrupt = () => {};
    const { left, interrupt } = play(['long'], { session });
    await new Promise(setImmediate);
    interrupt();
    expect(left()).toBe(0);
    interrupt();
    expect(left()).toBe(1);
  });

  it('wait for a slow reader', async () => {
    let release: () => void = () => {};
    const texts: string[] = [];
    const slow = new Writable({
      highWaterMark: 1,
      write(piece, _, done) {
        texts.push(String(piece));
        release = done;
      },
    }) as unknown as NodeJS.WriteStream;
    const { done } = play(['x'], { answers: { x: ['first', 'second'] }, out: slow });
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(texts).toEqual(['first']);
    release();
    await new Promise(setImmediate);
    expect(texts).toEqual(['first', 'second']);
    release();
    expect(await done).toBe(0);
  });

  it('end without a word when the reader goes away', async () => {
    const gone = new Writable({
      write: (_piece, _encoding, done) => done(Object.assign(new Error('gone'), { code: 'EPIPE' })),
    }) as unknown as NodeJS.WriteStream;
    const { done, session, err } = play(['x', 'y'], { answers: { x: ['1', '2', '3'] }, out: gone });
    expect(await done).toBe(0);
    expect(session.ran).toEqual(['x']);
    expect(session.asked.at(-1)).toBe('close');
    expect(err.text()).toBe('');
  });

  it('say so when standard output cannot be written', async () => {
    const full = new Writable({
      write: (_piece, _encoding, done) => done(Object.assign(new Error('no space left'), { code: 'ENOSPC' })),
    }) as unknown as NodeJS.WriteStream;
    const { done, err } = play(['x'], { answers: { x: ['1', '2', '3'] }, out: full });
    expect(await done).toBe(2);
    expect(err.text()).toContain('standard output cannot be written: no space left');
  });

  it('tell of a crawl every five seconds where standard error is no terminal, and of queries nothing', async () => {
    let now = 0;
    const session = fakeSession({ x: 'hang' });
    const { done, err, interrupt } = play(['x'], { session, nowMs: () => now });
    await new Promise(setImmediate);
    const crawl = {
      crawl: 1,
      target: 'pages',
      pages: 7,
      rows: 6,
      waiting: 3,
      errors: 1,
      percent: 70,
      secondsLeft: 65,
    };
    for (; now <= 11_000; now += 500) {
      session.tell({ crawl });
      session.tell({ query: 50 });
    }
    interrupt();
    expect(await done).toBe(3);
    const lines = err
      .text()
      .split('\n')
      .filter((line) => line.includes('pages:'));
    expect(lines.length).toBe(2);
    expect(lines[0]).toMatch(
      /█░* {2}70 % {2}pages: 7 pages, 6 rows, 3 waiting, 1 error, about 1 min 5 s left$/,
    );
    expect(err.text()).not.toContain('50 %');
  });
});

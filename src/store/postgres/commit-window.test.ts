import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/fake-clock.ts';
import { openCommitWindow } from './commit-window.ts';

/** All that only waits for promises has happened. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

it('tells a failed commit to `onFailure` alone, also when many settlements wait behind it', async () => {
  const failures: unknown[] = [];
  let fail: (error: Error) => void = () => {};
  const window = openCommitWindow(new FakeClock(), {
    close() {},
    async prepare() {},
    write: () =>
      new Promise((_, reject) => {
        fail = reject;
      }),
    onFailure: (error) => failures.push(error),
  });
  for (let i = 0; i < 256; i++) window.count(0);
  await turn();
  for (let i = 0; i < 300; i++) window.count(0);
  fail(new Error('away'));
  // What nobody catches fails the test.
  await expect(window.flush()).rejects.toThrow('away');
  expect(failures.length).toBeGreaterThan(0);
});

it('prepares groups one after the other, but not behind the write of the one before', async () => {
  const steps: string[] = [];
  const written: (() => void)[] = [];
  const window = openCommitWindow(new FakeClock(), {
    close: ({ number }) => steps.push(`close ${number}`),
    async prepare({ number }) {
      steps.push(`prepare ${number}`);
    },
    write: ({ number }) => {
      steps.push(`write ${number}`);
      return new Promise((resolve) => written.push(resolve));
    },
    onFailure() {},
  });
  window.touch();
  void window.flush();
  window.touch();
  // Group 2 is open.
  await window.ahead();
  expect(steps).toEqual(['close 1', 'prepare 1', 'write 1', 'prepare 2']);
  const last = window.flush();
  await turn();
  expect(steps.slice(4)).toEqual(['close 2', 'prepare 2']);
  written[0]();
  await turn();
  expect(steps.slice(6)).toEqual(['write 2']);
  written[1]();
  await last;
});

it('tells whoever prepares ahead what went wrong, and once more with the write', async () => {
  const failures: unknown[] = [];
  const window = openCommitWindow(new FakeClock(), {
    close() {},
    prepare: () => Promise.reject(new Error('away')),
    write: () => Promise.resolve(),
    onFailure: (error) => failures.push(error),
  });
  window.touch();
  await expect(window.ahead()).rejects.toThrow('away');
  await expect(window.flush()).rejects.toThrow('away');
  expect(failures).toHaveLength(1);
});

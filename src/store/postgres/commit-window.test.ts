import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/fake-clock.ts';
import { openCommitWindow } from './commit-window.ts';

it('tells a failed commit to `onFailure` alone, also when many settlements wait behind it', async () => {
  const failures: unknown[] = [];
  let fail: (error: Error) => void = () => {};
  const window = openCommitWindow(
    new FakeClock(),
    () => {},
    () =>
      new Promise((_, reject) => {
        fail = reject;
      }),
    (error) => failures.push(error),
  );
  for (let i = 0; i < 256; i++) window.count(0);
  await Promise.resolve();
  for (let i = 0; i < 300; i++) window.count(0);
  fail(new Error('away'));
  // What nobody catches fails the test.
  await expect(window.flush()).rejects.toThrow('away');
  expect(failures.length).toBeGreaterThan(0);
});

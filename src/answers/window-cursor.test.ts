import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readWindowCursor, writeWindowCursor } from './window-cursor.ts';

const WINDOW = { fromRun: 3, toRun: 9 };

describe('cursors over several runs', () => {
  it('bring back the window and the place in it', () => {
    const text = writeWindowCursor(['q'], WINDOW, 'inner')!;
    expect(text).toMatch(/^[\w-]+$/);
    expect(readWindowCursor(text, ['q'])).toEqual({ window: WINDOW, inner: 'inner' });
    expect(writeWindowCursor(['q'], WINDOW, null)).toBeNull();
  });

  it('are refused for another question', () => {
    const text = writeWindowCursor(['q'], WINDOW, 'inner')!;
    expect(() => readWindowCursor(text, ['other'])).toThrow(
      expect.objectContaining({
        code: 'cursor-of-other-list',
        errors: [expect.objectContaining({ pointer: '/cursor' })],
      }),
    );
  });

  it('are refused where anybody made them up', () => {
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.jsonValue().map(encoded)), (text) => {
        expect(() => readWindowCursor(text, ['q'])).toThrow(
          expect.objectContaining({ code: 'cursor-unreadable' }),
        );
      }),
      { seed: 23, numRuns: 300 },
    );
  });
});

import { expect, it } from 'vitest';
import { createLiveShares } from './live-shares.ts';

it('a caller holds its share of live connections, and no more until one is over', () => {
  const shares = createLiveShares(2);
  const first = shares.take('a');
  shares.take('a');
  expect(() => shares.take('a')).toThrow(expect.objectContaining({ code: 'too-many-requests' }));
  shares.take('b');
  first();
  // Ending twice gives no second place.
  first();
  shares.take('a');
  expect(() => shares.take('a')).toThrow(expect.objectContaining({ code: 'too-many-requests' }));
});

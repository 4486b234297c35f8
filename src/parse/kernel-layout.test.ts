import { describe, expect, it } from 'vitest';
import { attributeTable } from './attribute-spans.ts';
import * as at from './kernel-layout.ts';
import { signTable } from './page-parts.ts';
import { TAG_HASHES } from './tag-names.ts';

describe('the memory of the kernel', () => {
  it('has room for each of its tables', () => {
    const { hashes, spans } = attributeTable();
    const signs = signTable();
    const regions: [start: number, bytes: number][] = [
      [at.STATE, at.STATE_LENGTH * 4],
      [at.NAME_ENDS, 256],
      [at.TEXT_KINDS, 256],
      [at.TAG_FLAGS, 256],
      [at.WORD_CLASSES, 256],
      [at.WORD_BYTES, 512],
      [at.TAG_SLOTS, 2 ** (32 - at.TAG_SHIFT)],
      [at.TAG_HASHES, 1024],
      [at.ATTRIBUTE_HASHES, hashes.byteLength],
      [at.ATTRIBUTE_SLOTS, spans.byteLength],
      [at.SIGN_HASHES, signs.hashes.byteLength],
      [at.SIGN_KINDS, signs.kinds.byteLength],
      [at.TAG_BOXES, 256],
      [at.WATCHED, 256],
      [at.FEATURES, (at.BLOCK + 7) * 8],
      [at.PLANES, at.PLANE_COUNT * 8],
    ];
    expect(TAG_HASHES.byteLength).toBeLessThanOrEqual(1024);
    for (const [i, [start, bytes]] of regions.entries()) {
      const next = regions[i + 1]?.[0] ?? at.FREE;
      expect(start + bytes, `region ${i}`).toBeLessThanOrEqual(next);
    }
    expect(at.FREE % 8).toBe(0);
  });

  it('has a number of its own for everything in the state', () => {
    const indices = [
      ...[at.BYTES, at.TEXT, at.HREF_STARTS, at.HREF_ENDS, at.HREF_HASHES, at.TEXT_STARTS, at.TEXT_ENDS],
      ...[
        at.LINK_FLAGS,
        at.LINK_KINDS,
        at.TAG_MULTIPLIER,
        at.ATTRIBUTE_MULTIPLIER,
        at.END,
        at.IS_MUTE,
        at.TELLS_ALL,
      ],
      ...[at.IS_FRAMESET, at.SEEKS, at.SIZE, at.HAS_BODY, at.LINK_COUNT, at.OPEN_ANCHOR, at.AT, at.AFTER],
      ...[
        at.TAG_ID,
        at.TAG_HASH,
        at.IS_END_TAG,
        at.IS_SELF_CLOSING,
        at.SIGNS,
        at.ENDED,
        at.SIGN_MULTIPLIER,
        at.SIMHASH_LOW,
        at.SIMHASH_HIGH,
      ],
      ...[at.CLASS_START, at.CLASS_END, at.ID_START, at.ID_END],
      ...Array.from({ length: at.BOX_COUNT }, (_, box) => at.BOX_DEPTHS + box),
      ...Array.from({ length: at.BOX_COUNT }, (_, box) => at.BOX_HASHES + box),
    ];
    expect(new Set(indices).size).toBe(indices.length);
    expect(Math.max(...indices)).toBeLessThan(at.SPANS);
    const later = [at.TEXT_BEFORE, at.LINE_STARTS, at.LINE_COUNT, at.WHITE_RUNS, at.WHITE_COUNT];
    expect(new Set(later).size).toBe(later.length);
    expect(Math.min(...later)).toBeGreaterThanOrEqual(at.SPANS + at.SPAN_COUNT);
    expect(Math.max(...later)).toBeLessThan(at.STATE_LENGTH);
    expect(at.SPANS + at.SPAN_COUNT).toBeLessThanOrEqual(at.STATE_LENGTH);
  });
});

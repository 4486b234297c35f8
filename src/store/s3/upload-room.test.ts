import { describe, expect, it } from 'vitest';
import { createUploadRoom, type UploadRoom } from './upload-room.ts';

/** Which of those who asked have been let in, in order. */
function visitors(room: UploadRoom) {
  const inside: string[] = [];
  return {
    inside,
    async come(name: string, bytes: number): Promise<void> {
      const entered = room.enter(bytes);
      if (entered !== null) await entered;
      inside.push(name);
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the room for uploads', () => {
  it('lets in so many bodies, and the next when one leaves', async () => {
    const room = createUploadRoom(2, 1000);
    const { inside, come } = visitors(room);
    for (const name of ['a', 'b', 'c', 'd']) void come(name, 1);
    await settled();
    expect(inside).toEqual(['a', 'b']);
    room.leave(1);
    await settled();
    expect(inside).toEqual(['a', 'b', 'c']);
  });

  it('lets in so many bytes; a small one does not overtake a large one that waits', async () => {
    const room = createUploadRoom(10, 100);
    const { inside, come } = visitors(room);
    for (const [name, bytes] of [
      ['a', 60],
      ['large', 80],
      ['small', 1],
    ] as const)
      void come(name, bytes);
    await settled();
    expect(inside).toEqual(['a']);
    room.shrink(50);
    await settled();
    expect(inside).toEqual(['a', 'large', 'small']);
  });

  it('lets in one that is larger than itself, alone', async () => {
    const room = createUploadRoom(10, 100);
    const { inside, come } = visitors(room);
    for (const [name, bytes] of [
      ['a', 1],
      ['huge', 500],
      ['b', 1],
    ] as const)
      void come(name, bytes);
    await settled();
    expect(inside).toEqual(['a']);
    room.leave(1);
    await settled();
    expect(inside).toEqual(['a', 'huge']);
    room.leave(500);
    await settled();
    expect(inside).toEqual(['a', 'huge', 'b']);
  });
});

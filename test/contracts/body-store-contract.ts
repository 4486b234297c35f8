/** The contract of the body port: every adapter runs it whole. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BodyStore } from '../../src/store/bodies.ts';

export interface BodyHarness {
  open(): Promise<BodyStore>;
  /** How many bodies are kept. */
  count(): Promise<number>;
  /** Bytes that are taken up by all of them. */
  size(): Promise<number>;
  cleanUp(): Promise<void>;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

export function describeBodies(name: string, start: () => Promise<BodyHarness>): void {
  describe(`bodies in ${name}`, () => {
    let harness: BodyHarness;
    let bodies: BodyStore;
    beforeEach(async () => {
      harness = await start();
      bodies = await harness.open();
    });
    afterEach(async () => {
      await bodies.close();
      await harness.cleanUp();
    });
    const put = async (bytes: Uint8Array) => bodies.put(sha256(bytes), bytes, 'text/html');

    it('come back byte for byte, whatever they are', async () => {
      const every = Uint8Array.from({ length: 70_000 }, (_, i) => (i * 31) >> 3);
      for (const bytes of [bytesOf('<h1>Grüße</h1>'), every, new Uint8Array(0), Uint8Array.of(0)]) {
        const found = await bodies.get(await put(bytes));
        expect(Buffer.compare(found!, bytes)).toBe(0);
      }
    });

    it('are kept once, however often they are put', async () => {
      const keys = [await put(bytesOf('same')), await put(bytesOf('same')), await put(bytesOf('other'))];
      expect(keys[1]).toBe(keys[0]);
      expect(keys[2]).not.toBe(keys[0]);
      expect(await harness.count()).toBe(2);
      await Promise.all(Array.from({ length: 10 }, () => put(bytesOf('at once'))));
      expect(await harness.count()).toBe(3);
    });

    it('are the bytes of the moment of putting, and only those of the view', async () => {
      const page = bytesOf('xxbodyxx').subarray(2, 6);
      const key = await put(page);
      page.fill(0);
      expect(new TextDecoder().decode((await bodies.get(key))!)).toBe('body');
    });

    it('take less room than they are long', async () => {
      await put(bytesOf('<li>an item of a long list</li>\n'.repeat(5000)));
      expect(await harness.size()).toBeLessThan(20_000);
    });

    it('are there when the store is opened again', async () => {
      const key = await put(bytesOf('kept'));
      await bodies.close();
      bodies = await harness.open();
      expect(new TextDecoder().decode((await bodies.get(key))!)).toBe('kept');
      expect(await put(bytesOf('kept'))).toBe(key);
      expect(await harness.count()).toBe(1);
    });

    it('that nobody put are null', async () => {
      expect(await bodies.get(sha256(bytesOf('never')).toString('hex'))).toBeNull();
    });
  });
}

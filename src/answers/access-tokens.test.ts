import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../primitives/clock.ts';
import { openRecords } from '../store/open-store.ts';
import type { RecordPort } from '../store/record-port.ts';
import { createAccessTokens } from './access-tokens.ts';

const folder = mkdtempSync(join(tmpdir(), 'sumi-tokens-'));
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  rmSync(folder, { recursive: true, force: true });
});

const NEW = { name: 'first', scopes: ['admin'], projects: null, expiresAt: null } as const;

describe('the first token', () => {
  it('shuts the service before it works: whoever is interrupted leaves no open door', async () => {
    const kept = await openRecords(join(folder, 'a.db'), systemClock);
    ends.push(() => kept.close());
    const records: RecordPort = Object.create(kept, {
      put: {
        value: (...given: Parameters<RecordPort['put']>) =>
          given[0] === 'token' ? Promise.reject(new Error('killed')) : kept.put(...given),
      },
    });
    const open = (on: RecordPort) =>
      createAccessTokens({ records: on, clock: systemClock, random: randomBytes });
    expect(await open(kept).areNeeded()).toBe(false);
    await expect(open(records).create(NEW)).rejects.toThrow('killed');
    expect(await open(kept).areNeeded()).toBe(true);
    expect(await open(kept).list()).toEqual([]);
    const { secret } = await open(kept).create(NEW);
    expect(await open(kept).find(secret)).toMatchObject({ name: 'first' });
  });
});

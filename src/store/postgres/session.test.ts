import { describe, expect, it } from 'vitest';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import { connect, disconnect } from './connection.ts';
import { ask, findByIndex, together } from './session.ts';

describe('a transaction', () => {
  it('of which one statement failed is over when its other steps are', async () => {
    const done: string[] = [];
    const step = Promise.resolve().then(async () => {
      await new Promise<void>((resolve) => setImmediate(resolve));
      done.push('the second step');
    });
    await expect(together([Promise.reject(new Error('broken')), step])).rejects.toThrow('broken');
    expect(done).toEqual(['the second step']);
    expect(await together([Promise.resolve(1), Promise.resolve('two')])).toEqual([1, 'two']);
  });

  it('finds rows by their keys where it is told to, and no other one after it', async () => {
    const server = await sharedPostgres();
    const address = await server.newDatabase();
    const sql = connect(address, { max: 1, applicationName: 'test' });
    const scans = "SELECT current_setting('enable_seqscan') AS scans";
    try {
      const inside = await sql.begin(async (tx) => {
        await findByIndex(tx);
        return ask(tx, scans);
      });
      expect(inside).toEqual([{ scans: 'off' }]);
      expect(await ask(sql, scans)).toEqual([{ scans: 'on' }]);
    } finally {
      await disconnect(sql);
      await server.dropDatabase(address);
    }
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sumi } from '../cli/run-sumi.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import type { PostgresDatabases } from '../servers/start-postgres.ts';
import { useCrew } from './crew.ts';

const crew = useCrew();
const [ROLE, PASSWORD, WRONG] = ['guarded_worker', 'pa55-Right', 'pa55-Wrong'];
let server: PostgresDatabases;
let database: string;

const nameOf = (address: string) => new URL(address).pathname.slice(1);

beforeAll(async () => {
  server = await sharedPostgres();
  database = await server.newDatabase();
  await server.run(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}' IN ROLE guarded`);
});
afterAll(async () => {
  await server.dropDatabase(database);
  await server.run(`DROP ROLE ${ROLE}`);
});

/** One clear error with a hint, exit 4, nothing on standard output, no password. */
async function expectRefused(address: string, code: string, ...words: string[]): Promise<void> {
  for (const command of [['crawl', 'http://127.0.0.1:9/'], ['worker', '--once'], ['pages'], ['workers']]) {
    const finished = await sumi([...command, '--store', address], { cwd: crew.folder });
    expect([command[0], finished.code, finished.stdout]).toEqual([command[0], 4, '']);
    const lines = finished.stderr.trim().split('\n');
    expect(lines).toHaveLength(3);
    expect(finished.stderr).toContain(`code: ${code}`);
    for (const word of words) expect(finished.stderr).toContain(word);
    for (const secret of [PASSWORD, WRONG]) expect(finished.stderr).not.toContain(secret);
  }
}

describe('a store that cannot be used is refused with one clear error', () => {
  it('for a wrong password', () =>
    expectRefused(server.urlOf(nameOf(database), ROLE, WRONG), 'store-login', ROLE));

  it('for a database that is missing', () =>
    expectRefused(server.urlOf('no_such_database', ROLE, PASSWORD), 'store-no-database', 'no_such_database'));

  it('for the schema of another program', async () => {
    const address = await server.newDatabase();
    await server.run('CREATE TABLE invoices (id int)', address);
    await expectRefused(address.replace('@', `:${PASSWORD}@`), 'store-foreign', 'invoices');
    await server.dropDatabase(address);
  });

  it('for a newer schema', async () => {
    const { address } = await crew.store();
    await server.run("UPDATE meta SET value = '99' WHERE key = 'schema_version'", address);
    await expectRefused(address.replace('@', `:${PASSWORD}@`), 'store-newer', '99');
  });
});

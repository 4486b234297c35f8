import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import type { PostgresDatabases } from '../../../test/servers/start-postgres.ts';
import { SumiError } from '../../errors.ts';
import {
  ARRAY_OF,
  connect,
  disconnect,
  isPooled,
  isTransient,
  postgresError,
  type Sql,
} from './connection.ts';

const ONE = { max: 1, applicationName: 'test' };

describe('an address', () => {
  it.each([
    'postgres://crawl:secret@a:b:c/web',
    'postgres://crawl:secret@db:port/web',
    'postgres://crawl:secret%ZZ@db/web',
    'postgres://crawl:secret@db/web/more',
    'postgres://crawl:secret@db/web?sslmode=sometimes',
    'postgres://crawl:secret@db/web?target_session_attrs=nearest',
  ])('that cannot be used is refused without its password: %s', (address) => {
    const error = thrownBy(() => connect(address, ONE));
    expect(error).toBeInstanceOf(SumiError);
    expect(error).toMatchObject({ code: 'store-address', exitCode: 4 });
    expect(JSON.stringify([error.message, error.stack, error.cause ?? null, error.details])).not.toContain(
      'secret',
    );
  });

  it('tells by pgbouncer=true that a pooler stands before the server', () => {
    expect(isPooled('postgres://db/web?pgbouncer=true')).toBe(true);
    expect(isPooled('postgres://db/web')).toBe(false);
  });
});

function thrownBy(act: () => unknown): SumiError {
  try {
    act();
  } catch (error) {
    return error as SumiError;
  }
  throw new Error('nothing was thrown');
}

describe('a connection', () => {
  let server: PostgresDatabases;
  let url: string;
  let sql: Sql;
  beforeAll(async () => {
    server = await sharedPostgres();
    url = await server.newDatabase();
    await server.run(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET statement_timeout = '1h'`);
    sql = connect(url, { max: 2, applicationName: 'sumi test' });
  });
  afterAll(async () => {
    await sql?.end();
    if (url !== undefined) await server.dropDatabase(url);
  });

  it('gives numbers as numbers and bytes as Buffers', async () => {
    const [row] = await sql`SELECT 9007199254740991::bigint AS big, 1.5::numeric AS dec, sum(x) AS total,
      count(*) AS n, '\\xff00'::bytea AS raw FROM unnest(ARRAY[1, 2]) x`;
    expect(row).toEqual({ big: 9007199254740991, dec: 1.5, total: 3, n: 2, raw: Buffer.from([255, 0]) });
  });

  it('says who it is, and is never timed out', async () => {
    const [row] = await sql`SELECT current_setting('application_name') AS name,
      current_setting('statement_timeout') AS statement, current_setting('jit') AS jit`;
    expect(row).toEqual({ name: 'sumi test', statement: '0', jit: 'off' });
  });

  it('carries arrays both ways', async () => {
    const words = [
      'plain',
      '',
      'NULL',
      'a "quoted" one',
      'back\\slash',
      'com,ma {x}',
      'line\nbreak',
      'ü',
      null,
    ];
    const [row] =
      await sql`SELECT ${words as string[]}::text[] AS words, ${[1, -2]}::int[] AS ints, ${[]}::int[] AS none,
      ${['{3,NULL}']}::text[] AS sly, ${[0.5, 1e300]}::float8[] AS floats, ${[9007199254740991]}::bigint[] AS bigs,
      ${[7]}::smallint[] AS smalls, ${['0f0e0d0c-0b0a-0908-0706-050403020100']}::uuid[] AS uuids`;
    expect(row).toEqual({
      words,
      ints: [1, -2],
      none: [],
      sly: ['{3,NULL}'],
      floats: [0.5, 1e300],
      bigs: [9007199254740991],
      smalls: [7],
      uuids: ['0f0e0d0c-0b0a-0908-0706-050403020100'],
    });
  });

  it('carries arrays of bytes and of booleans when told what they are', async () => {
    const raw = [Buffer.from([0, 255]), Buffer.alloc(0), null];
    const [row] = await sql`SELECT ${sql.typed(raw as never, ARRAY_OF.bytea)} AS raw,
      ${sql.typed([true, false] as never, ARRAY_OF.bool)} AS flags`;
    expect(row).toEqual({ raw, flags: [true, false] });
  });

  it('goes by the unix socket too', async () => {
    const [{ folder }] = await sql`SELECT current_setting('unix_socket_directories') AS folder`;
    const { port, pathname, username } = new URL(url);
    const near = connect(`postgres://${username}@${pathname}?host=${folder}&port=${port}`, ONE);
    try {
      const [row] = await near`SELECT inet_server_addr() AS address`;
      expect(row.address).toBeNull();
    } finally {
      await near.end();
    }
  });

  it('tries the next of several servers when the first is not there', async () => {
    const address = url.replace(/@.*\//, `@127.0.0.1:1,127.0.0.1:${server.port}/`);
    const either = connect(address, ONE);
    try {
      const answers = either`SELECT 1 AS one`.catch(() => either`SELECT 1 AS one`);
      expect(await answers).toEqual([{ one: 1 }]);
    } finally {
      await either.end();
    }
  });
});

describe('what goes wrong', () => {
  let server: PostgresDatabases;
  beforeAll(async () => {
    server = await sharedPostgres();
  });

  async function failureOf(
    address: string,
    statement = 'SELECT 1',
  ): Promise<{ raw: unknown; error: SumiError }> {
    const sql = connect(address, ONE);
    try {
      await sql.unsafe(statement);
    } catch (raw) {
      return { raw, error: postgresError(raw, address) as SumiError };
    } finally {
      await disconnect(sql);
    }
    throw new Error('nothing went wrong');
  }

  it('a wrong password is a refused login, and is not printed', async () => {
    const role = `guarded_${crypto.randomUUID().slice(0, 8)}`;
    await server.run(`CREATE ROLE ${role} LOGIN PASSWORD 'right' IN ROLE guarded`);
    const { raw, error } = await failureOf(server.urlOf('postgres', role, 'wr0ng-secret'));
    expect(error).toMatchObject({ code: 'store-login', exitCode: 4 });
    expect(error.message).toContain(role);
    expect(isTransient(raw)).toBe(false);
    expect(JSON.stringify([error, error.message, error.stack, raw])).not.toContain('wr0ng-secret');
  });

  it('an unknown role is a refused login', async () => {
    const { error } = await failureOf(server.urlOf('postgres', 'nobody_here'));
    expect(error).toMatchObject({ code: 'store-login', exitCode: 4 });
  });

  it('a missing database is told by its name', async () => {
    const { raw, error } = await failureOf(server.urlOf('not_there'));
    expect(error).toMatchObject({ code: 'store-no-database', exitCode: 4 });
    expect(error.message).toContain('not_there');
    expect(isTransient(raw)).toBe(false);
  });

  it('no server at the port is passing, and unreachable in the end', async () => {
    const { raw, error } = await failureOf('postgres://crawl:secret@127.0.0.1:1/web');
    expect(isTransient(raw)).toBe(true);
    expect(error).toMatchObject({ code: 'store-unreachable', exitCode: 4 });
    expect(error.message).not.toContain('secret');
  });

  it('no right is denied', async () => {
    const role = `visitor_${crypto.randomUUID().slice(0, 8)}`;
    await server.run(`CREATE ROLE ${role} LOGIN`);
    const { error } = await failureOf(server.urlOf('postgres', role), 'CREATE TABLE mine (id int)');
    expect(error).toMatchObject({ code: 'store-denied', exitCode: 4 });
  });

  it('a cut connection is passing', async () => {
    const { raw, error } = await failureOf(server.url, 'SELECT pg_terminate_backend(pg_backend_pid())');
    expect(isTransient(raw)).toBe(true);
    expect(error.code).toBe('store-unreachable');
  });

  it('a full disk is told as such, anything else as a failed store', async () => {
    const raise = (code: string) => `DO $$ BEGIN RAISE EXCEPTION 'raised' USING ERRCODE = '${code}'; END $$`;
    const codes = async (code: string) => {
      const { raw, error } = await failureOf(server.url, raise(code));
      return [error.code, error.exitCode, isTransient(raw)];
    };
    expect(await codes('53100')).toEqual(['disk-full', 4, false]);
    expect(await codes('22012')).toEqual(['store-failed', 4, false]);
    for (const passing of ['57P01', '57P03', '53300', '25006', '40001', '40P01', '08006']) {
      expect(await codes(passing)).toEqual(['store-unreachable', 4, true]);
    }
  });

  it('a defect of our own stays what it is', () => {
    const defect = new TypeError('x is not a function');
    expect(postgresError(defect, 'postgres://db/web')).toBe(defect);
    expect(isTransient(defect)).toBe(false);
  });
});

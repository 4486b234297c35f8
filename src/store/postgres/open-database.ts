/**
 * Opens the database, for a worker or for readers. Every way in which that can go wrong is told apart here, before
 * anything is written; a database of another program, or of a newer sumi, is left as it is.
 *
 * The schema is brought up to date under an advisory lock that ends with its transaction: any number of workers may
 * start at once, also through PgBouncer. A role that may not make tables opens what its owner has made already.
 */
import { randomBytes } from 'node:crypto';
import { sumiError } from '../../errors.ts';
import {
  type ConnectOptions,
  connect,
  disconnect,
  postgresError,
  type Sql,
  storeLabel,
  type TransactionSql,
} from './connection.ts';
import { APPLICATION, MIGRATIONS, RENEW_VIEWS, SCHEMA_VERSION } from './schema.ts';

/** The same number for everyone who migrates: "sumi" as letters. */
const MIGRATION_LOCK = 0x73756d69;

const DEPENDED_ON = '2BP01';

export interface WritableDatabase {
  sql: Sql;
  /** Key of the identity hash (128 bits in hex): made once for the database, the same for all workers. */
  hashKey: string;
}

export async function openForWriting(address: string, options: ConnectOptions): Promise<WritableDatabase> {
  const sql = connect(address, options);
  try {
    const found = await lookAt(sql);
    refuseUnusable(found, address);
    if (found.version < SCHEMA_VERSION) await migrate(sql, address);
    const [[{ value }]] = await Promise.all([
      sql`SELECT value FROM meta WHERE key = 'hash_key'`,
      refuseMissingRights(sql, address),
    ]);
    return { sql, hashKey: value };
  } catch (error) {
    await disconnect(sql);
    throw postgresError(error, address);
  }
}

export async function openForReading(address: string, options: ConnectOptions): Promise<Sql> {
  const sql = connect(address, options);
  try {
    const found = await lookAt(sql);
    refuseUnusable(found, address);
    const store = storeLabel(address);
    if (found.version === 0) throw sumiError('store-empty', { store });
    if (found.version < SCHEMA_VERSION) throw older(store, found.version);
    return sql;
  } catch (error) {
    await disconnect(sql);
    throw postgresError(error, address);
  }
}

interface Found {
  /** 0 when nothing of ours is there. */
  version: number;
  /** A table or view that is not ours, in a database without our mark. */
  foreign: string | null;
}

async function lookAt(sql: Sql | TransactionSql, isSecondLook = false): Promise<Found> {
  // Another program's meta may look different: asked of the catalogue first, so that no statement fails.
  const [{ like_ours: isLikeOurs }] = await sql`
    SELECT count(*) = 2 AS like_ours FROM pg_attribute
    WHERE attrelid = to_regclass('meta') AND attname IN ('key', 'value') AND atttypid = 'text'::regtype`;
  if (isLikeOurs) {
    const rows = await sql`SELECT key, value FROM meta WHERE key IN ('application', 'schema_version')`;
    const meta = new Map(rows.map(({ key, value }) => [key, value]));
    if (meta.get('application') === APPLICATION) {
      return { version: Number(meta.get('schema_version')), foreign: null };
    }
  }
  // What an extension brought along belongs to no program.
  const [stranger] = await sql`
    SELECT c.relname AS name FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      AND NOT EXISTS (SELECT 1 FROM pg_depend d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    ORDER BY c.relname LIMIT 1`;
  // Our own tables look strange when another worker commits them between the two questions; a second look finds our mark.
  if (stranger !== undefined && !isSecondLook) return lookAt(sql, true);
  return { version: 0, foreign: stranger?.name ?? null };
}

function refuseUnusable({ version, foreign }: Found, address: string): void {
  const store = storeLabel(address);
  if (foreign !== null) throw sumiError('store-foreign', { store, table: foreign });
  if (version > SCHEMA_VERSION)
    throw sumiError('store-newer', { store, found: version, known: SCHEMA_VERSION });
}

async function migrate(sql: Sql, address: string): Promise<void> {
  let before = 0;
  try {
    await sql.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
      // Another worker may have done it while this one waited.
      const found = await lookAt(tx);
      refuseUnusable(found, address);
      before = found.version;
      if (found.version === SCHEMA_VERSION) return;
      for (let version = found.version; version < SCHEMA_VERSION; version++) {
        await tx.unsafe(MIGRATIONS[version]);
      }
      await tx.unsafe(RENEW_VIEWS);
      await tx`
        INSERT INTO meta (key, value) VALUES ('application', ${APPLICATION}),
          ('schema_version', ${String(SCHEMA_VERSION)}), ('hash_key', ${randomBytes(16).toString('hex')})
        ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE meta.key = 'schema_version'`;
    });
  } catch (error) {
    // A role without the right to change an older schema needs its owner, not more rights.
    const { code, detail } = error as { code?: string; detail?: string };
    if (before > 0 && code === '42501') throw older(storeLabel(address), before);
    // An operator's own view reads one of ours: which one it is, only the detail says.
    if (code === DEPENDED_ON)
      throw sumiError('store-failed', { file: storeLabel(address), reason: `${detail}` }, error);
    throw error;
  }
}

function older(store: string, found: number) {
  return sumiError('store-older', { store, found, known: SCHEMA_VERSION });
}

const made = (kind: string) =>
  MIGRATIONS.flatMap((text) => [
    ...text.matchAll(new RegExp(`^CREATE ${kind} (\\w+)(?! PARTITION OF)\\b`, 'gm')),
  ]).map(([, name]) => name);

/** Told at once and all together, rather than by the first statement that fails in the middle of a crawl. */
async function refuseMissingRights(sql: Sql, address: string): Promise<void> {
  const rows = await sql`
    SELECT t.name, p.name AS wanted FROM unnest(${made('TABLE')}::text[]) t(name),
      unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) p(name) WHERE NOT has_table_privilege(t.name, p.name)
    UNION ALL
    SELECT s.name, 'USAGE' FROM unnest(${made('SEQUENCE')}::text[]) s(name)
    WHERE NOT has_sequence_privilege(s.name, 'USAGE')`;
  if (rows.length === 0) return;
  const missing = rows.map(({ name, wanted }) => `${wanted} on ${name}`);
  const reason = `missing ${missing.slice(0, 4).join(', ')}${missing.length > 4 ? ` and ${missing.length - 4} more` : ''}`;
  throw sumiError('store-denied', { store: storeLabel(address), reason });
}

/**
 * Connections to PostgreSQL: reads the address, makes the client, and puts what can go wrong into the words of
 * errors.ts. The address may hold a password: nothing made here prints it.
 *
 * Numbers come as numbers (int8 and numeric too: none of ours is beyond 2^53; simhash is asked for as hex), bytea as
 * Buffer. Arrays go in and come out by their own codecs, so that no connection begins with a question about types; an
 * array of Buffers, booleans or bigints needs `sql.typed(values, ARRAY_OF.bytea)`, since the driver guesses wrong.
 */
import { readFileSync } from 'node:fs';
import postgres from 'postgres';
import { SumiError, sumiError } from '../../errors.ts';
import { storeLabel } from '../../primitives/store-address.ts';

export { storeLabel };

export type Sql = postgres.Sql;
export type TransactionSql = postgres.TransactionSql;

export interface ConnectOptions {
  /** Most connections at once. */
  max: number;
  /** What `pg_stat_activity` shows. */
  applicationName: string;
  /** The server refuses to change anything. Not through PgBouncer. */
  isReadOnly?: boolean;
  /** A transaction that its own side leaves alone for so long is undone, and with it the locks that others wait for. */
  abandonedAfterMs?: number;
  /** No table is read from end to end. Not through PgBouncer. */
  findsByIndex?: boolean;
}

const CONNECT_TIMEOUT_S = 10;
const KEEP_ALIVE_S = 30;
const GOODBYE_S = 2;

/** As texts: the driver leaves out what is 0 or false. Compiling a query takes longer than any of ours. */
const SESSION = { statement_timeout: '0', jit: 'off' };
const READ_ONLY = { default_transaction_read_only: 'on' };
const BY_INDEX = { enable_seqscan: 'off' };

export function connect(
  address: string,
  { max, applicationName, isReadOnly = false, abandonedAfterMs = 0, findsByIndex = false }: ConnectOptions,
): Sql {
  const { hosts, socketFolder, user, password, database, params } = parseAddress(address);
  const isPooler = isPooled(address);
  const session = {
    ...SESSION,
    idle_in_transaction_session_timeout: String(abandonedAfterMs),
    ...(isReadOnly ? READ_ONLY : {}),
    ...(findsByIndex ? BY_INDEX : {}),
  };
  const options: postgres.Options<Record<string, postgres.PostgresType>> = {
    // The driver takes lists, as its own types say in one place and not in the other.
    ...(socketFolder === null
      ? { host: hosts.map(({ host }) => host) as never, port: hosts.map(({ port }) => port) as never }
      : { path: `${socketFolder}/.s.PGSQL.${hosts[0].port}` }),
    user,
    password,
    database,
    ssl: sslOf(address, hosts[0].host, socketFolder !== null, params),
    target_session_attrs: sessionAttributesOf(address, params),
    max,
    prepare: !isPooler,
    fetch_types: false,
    types: CODECS,
    connect_timeout: CONNECT_TIMEOUT_S,
    keep_alive: KEEP_ALIVE_S,
    // A failover cuts connections by itself; ours live as long as they serve.
    max_lifetime: null,
    // Short, because whoever asks has a patience of its own.
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, 1),
    onnotice: () => {},
    // PgBouncer knows none of these; there the role's own settings hold (ALTER ROLE … SET).
    connection: {
      application_name: applicationName,
      ...(isPooler ? {} : session),
    } as Record<string, string>,
  };
  return postgres(options) as unknown as Sql;
}

/** Closes all connections. Not without a limit: the driver waits for ever on one that the server has cut. */
export async function disconnect(sql: Sql): Promise<void> {
  await sql.end({ timeout: GOODBYE_S });
}

/** Through PgBouncer in transaction mode: no prepared statements, no LISTEN. Told by `?pgbouncer=true`. */
export function isPooled(address: string): boolean {
  return parseAddress(address).params.get('pgbouncer') === 'true';
}

interface Address {
  hosts: { host: string; port: number }[];
  socketFolder: string | null;
  user: string;
  password: string;
  database: string;
  params: URLSearchParams;
}

const ADDRESS = /^postgres(?:ql)?:\/\/(?:(?<login>[^@/]*)@)?(?<hosts>[^/@]*)(?:\/(?<database>[^/]*))?$/i;

function parseAddress(address: string): Address {
  const [bare, query] = split(address, '?');
  const { login = '', hosts = '', database = '' } = ADDRESS.exec(bare)?.groups ?? malformed(address);
  const params = new URLSearchParams(query);
  try {
    const [user, password] = split(login, ':').map(decodeURIComponent);
    const host = decodeURIComponent(hosts) || params.get('host') || '';
    const isSocket = host.startsWith('/');
    const port = Number(params.get('port') ?? 5432);
    return {
      hosts: isSocket ? [{ host: '', port }] : host.split(',').map((one) => hostAndPort(one, address)),
      socketFolder: isSocket ? host : null,
      user,
      password: password || params.get('password') || '',
      database: decodeURIComponent(database),
      params,
    };
  } catch (error) {
    if (error instanceof URIError) return malformed(address);
    throw error;
  }
}

function hostAndPort(text: string, address: string): { host: string; port: number } {
  const found = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/i.exec(text) ?? malformed(address);
  const host = found[1] ?? found[2];
  return { host: host === '' ? 'localhost' : host, port: Number(found[3] ?? 5432) };
}

function malformed(address: string): never {
  throw sumiError('store-address', { store: storeLabel(address) });
}

function split(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + sign.length)];
}

type Ssl = NonNullable<postgres.Options<Record<string, never>>['ssl']>;

/** As psql takes it; unsaid it is used where the server has it, but not on the machine itself. */
function sslOf(address: string, host: string, isSocket: boolean, params: URLSearchParams): Ssl {
  const isHere = isSocket || /^(localhost|127\..*|::1)$/.test(host);
  const mode = params.get('sslmode') ?? (isHere ? 'disable' : 'prefer');
  const file = (name: string) => {
    const path = params.get(name);
    return path === null || path === 'system' ? undefined : readFileSync(path);
  };
  if (mode === 'disable' || isSocket) return false;
  if (!['allow', 'prefer', 'require', 'verify-ca', 'verify-full'].includes(mode)) return malformed(address);
  const certificates = { ca: file('sslrootcert'), cert: file('sslcert'), key: file('sslkey') };
  if (mode === 'verify-full') return certificates;
  if (mode === 'verify-ca') return { ...certificates, checkServerIdentity: () => undefined };
  const hasNone = Object.values(certificates).every((value) => value === undefined);
  return hasNone ? (mode as 'require') : { ...certificates, rejectUnauthorized: false };
}

const SESSION_ATTRIBUTES = ['read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;

function sessionAttributesOf(address: string, params: URLSearchParams) {
  const wanted = params.get('target_session_attrs');
  if (wanted === null || wanted === 'any') return undefined;
  // The driver would take a standby for writable, and our own read-only sessions for a server that is not.
  if (wanted === 'read-write') return 'primary';
  return SESSION_ATTRIBUTES.find((known) => known === wanted) ?? malformed(address);
}

/** PostgreSQL's own numbers of its array types. */
export const ARRAY_OF = {
  bool: 1000,
  bytea: 1001,
  int2: 1005,
  int4: 1007,
  text: 1009,
  int8: 1016,
  float4: 1021,
  float8: 1022,
  uuid: 2951,
} as const;

type Element = string | number | bigint | boolean | Uint8Array | null | undefined;

function arrayText(values: Iterable<Element>, write: (value: NonNullable<Element>) => string): string {
  let text = '{';
  for (const value of values) {
    if (text.length > 1) text += ',';
    text += value === null || value === undefined ? 'NULL' : write(value);
  }
  return `${text}}`;
}

const quoted = (value: NonNullable<Element>) => `"${String(value).replace(/["\\]/g, '\\$&')}"`;
const bytes = (value: NonNullable<Element>) => {
  const { buffer, byteOffset, byteLength } = value as Uint8Array;
  return `"\\\\x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}"`;
};
const numbers = (text: string) => JSON.parse(`[${text.slice(1, -1).replaceAll('NULL', 'null')}]`) as number[];

/** A one-dimensional array of texts as PostgreSQL writes it. */
function texts(text: string): (string | null)[] {
  const found: (string | null)[] = [];
  for (const [, inQuotes, plain] of text.matchAll(/[{,](?:"((?:[^"\\]|\\.)*)"|([^",{}]+))/gs)) {
    found.push(
      inQuotes === undefined ? (plain === 'NULL' ? null : plain) : inQuotes.replace(/\\(.)/gs, '$1'),
    );
  }
  return found;
}

function codec(
  oid: number,
  write: (value: NonNullable<Element>) => string,
  parse: (text: string) => unknown,
): postgres.PostgresType {
  return {
    to: oid,
    from: [oid],
    // Text that is an array already passes through.
    serialize: (values: Iterable<Element>) =>
      typeof values === 'string' ? values : arrayText(values, write),
    parse,
  };
}

const CODECS: Record<string, postgres.PostgresType> = {
  wideNumber: { to: 20, from: [20, 1700], serialize: String, parse: Number },
  bools: codec(ARRAY_OF.bool, String, (text) => texts(text).map((one) => one && one === 't')),
  byteas: codec(ARRAY_OF.bytea, bytes, (text) =>
    texts(text).map((one) => one && Buffer.from(one.slice(2), 'hex')),
  ),
  int2s: codec(ARRAY_OF.int2, String, numbers),
  int4s: codec(ARRAY_OF.int4, String, numbers),
  int8s: codec(ARRAY_OF.int8, String, numbers),
  float4s: codec(ARRAY_OF.float4, String, numbers),
  float8s: codec(ARRAY_OF.float8, String, numbers),
  texts: codec(ARRAY_OF.text, quoted, texts),
  uuids: codec(ARRAY_OF.uuid, String, texts),
};

const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CONNECTION_CLOSED',
  'CONNECT_TIMEOUT',
]);
/** Shut down, crashed, starting up; too many connections; failing over; a transaction undone by another or left alone. */
const PASSING = new Set(['57P01', '57P02', '57P03', '53300', '25006', '25P03', '40001', '40P01']);

/** What PgBouncer passes on under the one code it has for everything. */
const IS_REFUSAL = /no such|not allowed|does not exist|authentication failed/i;

/** True for what goes away when one waits: the server restarts, fails over or is full of connections. */
export function isTransient(error: unknown): boolean {
  const { code, message, syscall } = fieldsOf(error);
  if (code === undefined || isPoolerMissing(code, message)) return false;
  if (code.startsWith('08')) return !IS_REFUSAL.test(message);
  // A socket that is not there is a server that is not up.
  return NETWORK.has(code) || PASSING.has(code) || (code === 'ENOENT' && syscall === 'connect');
}

/** Anything PostgreSQL or the network throws, as an error that says what to do. */
export function postgresError(error: unknown, address: string): unknown {
  const { code, message } = fieldsOf(error);
  if (error instanceof SumiError || code === undefined) return error;
  const store = storeLabel(address);
  const details = { store, reason: message };
  if (isPoolerMissing(code, message)) return sumiError('store-pooler', details, error);
  if (
    code === '28P01' ||
    code === '28000' ||
    /SASL|AUTH_TYPE/.test(code) ||
    /authentication failed/.test(message)
  )
    return sumiError('store-login', details, error);
  if (code === '3D000' || /no such database|database .* does not exist/i.test(message))
    return sumiError('store-no-database', details, error);
  // No schema to make tables in is, too, a right that is missing.
  if (code === '42501' || code === '3F000') return sumiError('store-denied', details, error);
  if (code === '53100') return sumiError('disk-full', { file: store }, error);
  if (isTransient(error) || /^(CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code))
    return sumiError('store-unreachable', details, error);
  return sumiError('store-failed', { file: store, reason: message }, error);
}

/** What PgBouncer's transaction mode answers to a client that takes it for PostgreSQL itself. */
function isPoolerMissing(code: string, message: string): boolean {
  return /unsupported startup parameter/.test(message) || code === '26000' || code === '42P05';
}

function fieldsOf(error: unknown): { code: string | undefined; message: string; syscall: unknown } {
  const { code, message, syscall } = (error ?? {}) as {
    code?: unknown;
    message?: unknown;
    syscall?: unknown;
  };
  const isCode = typeof code === 'string' && /^[0-9A-Z_]{4,}$/.test(code);
  // Node's own complaints about arguments are defects of ours, not of the store.
  const isOurs = isCode && /^ERR_(?!TLS)/.test(code);
  return {
    code: isCode && !isOurs ? code : undefined,
    message: typeof message === 'string' && message !== '' ? message : String(code),
    syscall,
  };
}

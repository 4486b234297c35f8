/**
 * A private PostgreSQL server for tests: its own folder, its own port, gone when stopped, and gone too when the process
 * that started it dies. Durable against nothing but its own restarts (fsync is off).
 *
 * Role `crawl` owns everything and needs no password; a member of the role `guarded` is asked for one.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { installPackages } from './install-packages.ts';

/** A running server's databases, whoever started it. */
export interface PostgresDatabases {
  readonly port: number;
  /** The database `postgres` of this server, as its owner. */
  readonly url: string;
  /** The address of another database, or for another role. */
  urlOf(database: string, user?: string, password?: string): string;
  /** A new, empty database; answers its address. */
  newDatabase(): Promise<string>;
  dropDatabase(url: string): Promise<void>;
  /** Empties every table but `meta` and lets ids begin anew: in milliseconds, where a new database takes half a second. */
  clear(url: string): Promise<void>;
  /** Statements as the owner, in the database of the address or in `postgres`. */
  run(statements: string, url?: string): Promise<void>;
}

export interface PostgresServer extends PostgresDatabases {
  /** Fast: connections are cut, what was committed is written. Immediate: as if the power failed. */
  stop(how?: 'fast' | 'immediate'): Promise<void>;
  /** Starts it again after stop, on the same port and with the same data. */
  start(): Promise<void>;
  restart(how?: 'fast' | 'immediate'): Promise<void>;
  /** A second server that follows this one; `promote` makes it a server of its own. */
  startStandby(): Promise<PostgresStandby>;
  /** Stops it for good and removes its folder. */
  remove(): Promise<void>;
}

export interface PostgresStandby extends PostgresServer {
  promote(): Promise<void>;
}

const OWNER = 'crawl';
const isRoot = process.getuid?.() === 0;

const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  wal_level: 'replica',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
};

const HBA = `local all         all                  trust
host  all         +guarded    0.0.0.0/0 scram-sha-256
host  all         all         0.0.0.0/0 trust
host  replication all         0.0.0.0/0 trust
`;

const CLEAR = `DO $$
DECLARE found record;
BEGIN
  FOR found IN SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
    AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'meta'
  LOOP EXECUTE 'DELETE FROM ' || found.name; END LOOP;
  FOR found IN SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
    AND relkind = 'S'
  LOOP EXECUTE 'ALTER SEQUENCE ' || found.name || ' RESTART'; END LOOP;
END $$`;

interface ServerOptions {
  /** Given a port, the server can be found again under it after another had it. */
  port?: number;
  settings?: Record<string, string>;
}

export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const folder = newFolder();
  runAsServer('initdb', [
    ...['-D', join(folder, 'data'), '-U', OWNER, '-A', 'trust', '-E', 'UTF8', '--locale=C'],
    ...['--no-sync', '--no-instructions'],
  ]);
  writeFileSync(join(folder, 'data', 'pg_hba.conf'), HBA);
  const server = await openServer(folder, options);
  await server.run('CREATE ROLE guarded NOLOGIN');
  return server;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-postgres-'));
  giveAway(folder);
  return folder;
}

async function openServer(folder: string, options: ServerOptions): Promise<PostgresStandby> {
  const data = join(folder, 'data');
  const port = options.port ?? (await freePort());
  let server = await spawnServer(folder, port, options.settings ?? {});
  const stop = (how: 'fast' | 'immediate' = 'fast') => stopServer(server, how);
  const start = async () => {
    server = await spawnServer(folder, port, options.settings ?? {});
  };
  return {
    ...attachPostgres(port),
    stop,
    start,
    async restart(how) {
      await stop(how);
      await start();
    },
    async startStandby() {
      const second = newFolder();
      runAsServer('pg_basebackup', [
        ...['-h', '127.0.0.1', '-p', String(port), '-U', OWNER, '-D', join(second, 'data')],
        ...['-R', '-c', 'fast', '--no-sync'],
      ]);
      return openServer(second, { settings: options.settings });
    },
    async promote() {
      runAsServer('pg_ctl', ['-D', data, '-w', 'promote']);
    },
    async remove() {
      await stop('immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The databases of a server that runs on this machine already. */
export function attachPostgres(port: number): PostgresDatabases {
  const urlOf = (database: string, user = OWNER, password?: string) =>
    `postgres://${user}${password === undefined ? '' : `:${encodeURIComponent(password)}`}@127.0.0.1:${port}/${database}`;
  const url = urlOf('postgres');
  const run = async (statements: string, at = url) => {
    const sql = postgres(at, { max: 1, onnotice: () => {}, fetch_types: false });
    try {
      await sql.unsafe(statements);
    } finally {
      await sql.end();
    }
  };
  return {
    port,
    url,
    urlOf,
    run,
    async newDatabase() {
      const name = `t_${crypto.randomUUID().replaceAll('-', '')}`;
      await run(`CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    clear: (at) => run(CLEAR, at),
    dropDatabase: (at) => run(`DROP DATABASE IF EXISTS ${new URL(at).pathname.slice(1)} WITH (FORCE)`),
  };
}

async function spawnServer(
  folder: string,
  port: number,
  settings: Record<string, string>,
): Promise<ChildProcess> {
  const all = { ...SETTINGS, listen_addresses: '127.0.0.1', unix_socket_directories: folder, ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [program, ...args] = asServer('postgres', ['-D', join(folder, 'data'), '-p', String(port), ...flags]);
  const server = spawn(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr!.setEncoding('utf8').on('data', (text: string) => {
      // The start is all that is looked for; later lines are kept short, for the error if it dies.
      log = (log + text).slice(-10_000);
      if (/ready to accept (read-only )?connections/.test(log)) resolve();
    });
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${log}`)));
  });
  return server;
}

async function stopServer(server: ChildProcess, how: 'fast' | 'immediate'): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
  await ended;
}

/** PostgreSQL refuses to run as root, and must not outlive the process that started it. */
function asServer(program: string, args: string[]): string[] {
  const user = isRoot ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
  return ['setpriv', ...user, '--pdeathsig', 'QUIT', '--', join(programs(), program), ...args];
}

function runAsServer(program: string, args: string[]): void {
  const [first, ...rest] = asServer(program, args);
  execFileSync(first, rest, { cwd: tmpdir(), stdio: ['ignore', 'ignore', 'pipe'] });
}

function giveAway(folder: string): void {
  if (!isRoot) return;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  programs();
  chownSync(folder, idOf('-u'), idOf('-g'));
}

/** The folder of Debian's server programs, newest first; installed when there is none. */
function programs(): string {
  const found = () => {
    const versions = '/usr/lib/postgresql';
    if (!existsSync(versions)) return undefined;
    return readdirSync(versions)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(versions, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')));
  };
  const folder = found();
  if (folder !== undefined) return folder;
  installPackages(['postgresql-15']);
  const installed = found();
  if (installed === undefined) throw new Error('postgresql-15 was installed but brought no server');
  return installed;
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** A private PgBouncer in transaction mode before a PostgreSQL server: statements of one client meet many sessions. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackages } from './install-packages.ts';
import { freePort, type PostgresDatabases } from './start-postgres.ts';

export interface PgBouncer {
  /** The address of a database of the server, through the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
}

/** Fewer than any test's clients, so that they share them. */
const SESSIONS = 2;
const PROGRAM = '/usr/sbin/pgbouncer';

export async function startPgBouncer(server: PostgresDatabases): Promise<PgBouncer> {
  if (!existsSync(PROGRAM)) installPackages(['pgbouncer']);
  const folder = mkdtempSync(join(tmpdir(), 'sumi-pgbouncer-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=127.0.0.1 port=${server.port} user=crawl
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${SESSIONS}
max_client_conn = 200
`,
  );
  const pooler = await spawnPooler(file);
  return {
    through(url) {
      const address = new URL(url);
      address.port = String(port);
      return address.href;
    },
    async stop() {
      const ended = once(pooler, 'exit');
      pooler.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** It refuses to run as root. */
async function spawnPooler(file: string): Promise<ChildProcess> {
  const user = process.getuid?.() === 0 ? ['--reuid=nobody', '--regid=nogroup', '--clear-groups'] : [];
  const pooler = spawn('setpriv', [...user, '--pdeathsig', 'KILL', '--', PROGRAM, file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    pooler.stderr!.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
      if (/process up/.test(log)) resolve();
    });
    pooler.once('error', reject);
    pooler.once('exit', (code) => reject(new Error(`PgBouncer ended with ${code}:\n${log}`)));
  });
  return pooler;
}

/** A private nginx before a folder of files, with what a test adds to its configuration. Debian's, on a port of 127.0.0.1. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackages } from './install-packages.ts';
import { freePort } from './start-postgres.ts';

const PROGRAM = '/usr/sbin/nginx';

export interface NginxOptions {
  /** Files by path. */
  files: Readonly<Record<string, string>>;
  /** Directives of the http block, and of the location that serves the files. */
  http: string;
  location: string;
}

export interface Nginx {
  origin: string;
  /** What was answered, in the order of the log. */
  log(): { status: number; path: string }[];
  stop(): Promise<void>;
}

export async function startNginx({ files, http, location }: NginxOptions): Promise<Nginx> {
  if (!existsSync(PROGRAM)) installPackages(['nginx']);
  const folder = mkdtempSync(join(tmpdir(), 'sumi-nginx-'));
  const port = await freePort();
  mkdirSync(join(folder, 'www'));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, 'www', path), text);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${user} daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log warn;
events { worker_connections 256; }
http {
  types { text/html html; } ${temporary.join(' ')}
  log_format told '$status $request_uri'; access_log ${folder}/access.log told;
  ${http}
  server { listen 127.0.0.1:${port}; location / { root ${folder}/www; index index.html; ${location} } }
}`,
  );
  const server = spawn(PROGRAM, ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'inherit' });
  const ended = once(server, 'exit');
  await untilItListens(port, server);
  return {
    origin: `http://127.0.0.1:${port}`,
    log: () =>
      readFileSync(join(folder, 'access.log'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => ({ status: Number(line.slice(0, 3)), path: line.slice(4) })),
    async stop() {
      server.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

async function untilItListens(port: number, server: ChildProcess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`nginx ended with ${server.exitCode}`);
    const socket = createConnection(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
  }
}

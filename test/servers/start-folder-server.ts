/**
 * A real web server of Debian's, private and on a free port of 127.0.0.1, that serves a folder of files: what it says
 * about them (ETag, Last-Modified, encodings) is what such a server says in the world.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/primitives/clock.ts';
import { installPackages } from './install-packages.ts';
import { freePort } from './start-postgres.ts';

export interface FolderServer {
  url: string;
  /** Where the files are. */
  folder: string;
  stop(): Promise<void>;
}

interface Place {
  root: string;
  folder: string;
  port: number;
}

interface Kind {
  program: string;
  package: string;
  args(config: string): string[];
  config(place: Place, more: string): string;
}

const modules = ['mpm_event', 'authz_core', 'mime', 'dir', 'filter', 'deflate', 'brotli'];

const KINDS: Record<'apache' | 'nginx', Kind> = {
  apache: {
    program: '/usr/sbin/apache2',
    package: 'apache2',
    args: (config) => ['-f', config, '-DFOREGROUND'],
    config: ({ root, folder, port }, more) => `
ServerRoot "${root}"
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
PidFile "${root}/pid"
DefaultRuntimeDir "${root}"
ErrorLog "${root}/error.log"
${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
TypesConfig /etc/mime.types
DocumentRoot "${folder}"
DirectoryIndex index.html
<Directory "${folder}">
  Require all granted
</Directory>
${more}
`,
  },
  nginx: {
    program: '/usr/sbin/nginx',
    package: 'nginx',
    args: (config) => ['-c', config],
    config: ({ root, folder, port }, more) => `
daemon off;
worker_processes 1;
pid ${root}/pid;
error_log ${root}/error.log;
events {}
http {
  types { text/html html; text/plain txt; }
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${root}/${name};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    root ${folder};
    ${more}
  }
}
`,
  },
};

/** `more`: lines for its configuration (of the server block, in nginx). */
export async function startFolderServer(kind: 'apache' | 'nginx', more = ''): Promise<FolderServer> {
  const { program, package: name, args, config } = KINDS[kind];
  if (!existsSync(program)) installPackages([name]);
  const root = mkdtempSync(join(tmpdir(), `sumi-${kind}-`));
  chmodSync(root, 0o755);
  const place: Place = {
    root,
    folder: join(root, 'site'),
    port: await freePort(),
  };
  mkdirSync(place.folder);
  const file = join(root, 'server.conf');
  writeFileSync(file, config(place, more));
  const server = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args(file)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await untilOpen(server, place);
  return {
    url: `http://127.0.0.1:${place.port}`,
    folder: place.folder,
    async stop() {
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
      rmSync(root, { recursive: true });
    },
  };
}

async function untilOpen(server: ChildProcess, { port, root }: Place): Promise<void> {
  let said = '';
  let hasEnded = false;
  server.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  server.once('error', (error) => {
    said += error.message;
    hasEnded = true;
  });
  server.once('exit', () => {
    hasEnded = true;
  });
  while (!(await isOpen(port))) {
    const log = join(root, 'error.log');
    if (hasEnded)
      throw new Error(`the server ended: ${said}${existsSync(log) ? readFileSync(log, 'utf8') : ''}`);
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // Refused at once: the server needs the processor more than this question.
    socket.once('error', () => systemClock.after(10, () => resolve(false)));
  });
}

// The second crawl of a site: 5,000 pages, one in twenty changed, some new. What an incremental run costs against a
// full one, and whether both find every change and nothing else: from a server with ETags, from nginx with its own
// validators, and from one without any, where every answer differs in noise.
import { fork, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { createSiteGraph } from '../src/demo/site-graph.ts';
import { installPackages } from '../test/servers/install-packages.ts';
import { layOutCorpora, PEERS_HOME, whyNoPeers } from './peers.ts';
import { inTemporaryFolder, measureSumi, REPOSITORY, readFromSumi } from './run-sumi.ts';
import { atMost, failed, median, type Row, type Scenario, shown, skipped } from './scenario.ts';

const SEED = 20_260_105;
/**
 * Pages as the fake web makes them by itself, where the start and the request are most of a visit, and of the weights
 * of two of the corpora that crawlers are compared on. What a page weighs decides the share, and little else does.
 */
const WEIGHTS = {
  '4 KB': {},
  '23 KB': { textWords: 2500, linksPerPage: 80 },
  '36 KB': { textWords: 4000, linksPerPage: 130 },
};
type Weight = keyof typeof WEIGHTS;
const EVERY = 20;
const NEW_PAGES = 25;
const NGINX = '/usr/sbin/nginx';
const FLAGS = [
  ...['--delay', '0', '--no-robots', '--discover', 'links'],
  ...['--concurrency', '64', '--per-host', '64', '-q'],
];
type Kind = 'etags' | 'nginx' | 'none';

interface Server {
  origin: string;
  /** Bytes of bodies that went out since this was asked last. */
  sent(): Promise<number>;
  stop(): Promise<void>;
}

/** A site in a folder, before and after it changes. */
interface Site {
  name: string;
  start: string;
  /** Beside the flags of all. */
  flags: readonly string[];
  write(folder: string): void;
  /** Answers the outcome that each page must have; those that are not named must be unchanged. */
  change(folder: string): Map<string, string>;
}

/** Pages as files; what a path is called on disk. */
const fileOf = (folder: string, path: string) =>
  join(folder, path.endsWith('/') ? `${path}index.html` : path);

function write(folder: string, path: string, html: string | Buffer, at: Date): void {
  const file = fileOf(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, html);
  utimesSync(file, at, at);
}

const BEFORE = new Date('2026-01-02T00:00:00Z');
const AFTER = new Date('2026-01-03T00:00:00Z');

/** Other words in these pages, and links to new ones in the first of them. */
function changePages(folder: string, pages: Iterable<{ path: string; html: string }>): Map<string, string> {
  const expected = new Map<string, string>();
  let made = 0;
  for (const { path, html } of pages) {
    let news = 'News of the day. ';
    if (made < NEW_PAGES) {
      const link = `/fresh/page-${made++}.html`;
      news += `<a href="${link}">New</a> `;
      write(
        folder,
        link,
        `<!DOCTYPE html><title>New</title><main><h1>New</h1><p>Page ${made}.</p></main>`,
        AFTER,
      );
      expected.set(link, 'new');
    }
    write(folder, path, Buffer.from(html.replace('<p>', `<p>${news}`), 'latin1'), AFTER);
    expected.set(path, 'changed');
  }
  return expected;
}

function madeSite(pages: number, weight: Weight): Site {
  const graph = createSiteGraph({ seed: SEED, pages, ...WEIGHTS[weight] });
  function* toChange() {
    for (let index = EVERY - 1; index < pages; index += EVERY)
      yield { path: graph.pathOf(index), html: graph.render(index).toString('latin1') };
  }
  return {
    name: weight,
    start: '/',
    flags: [],
    write(folder) {
      for (let index = 0; index < pages; index++)
        write(folder, graph.pathOf(index), graph.render(index), BEFORE);
    },
    change: (folder) => changePages(folder, toChange()),
  };
}

const CORPUS = 'medium';
/** Pages only, as in the comparison with other crawlers. */
const PAGES_ONLY = ['--include', '^[^?]*(\\.html|/)$'];

/** Documentation as people wrote it. */
async function realSite(): Promise<Site> {
  await layOutCorpora([CORPUS]);
  const www = join(PEERS_HOME, 'www', CORPUS);
  const paths = readFileSync(join(PEERS_HOME, 'truth', `${CORPUS}.txt`), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('/'));
  function* toChange() {
    let pages = 0;
    for (const path of paths) {
      const html = readFileSync(fileOf(www, path), 'latin1');
      if (html.includes('<p>') && ++pages % EVERY === 0) yield { path, html };
    }
  }
  return {
    name: `${paths.length.toLocaleString('en')} real pages`,
    start: readFileSync(`${www}.start`, 'utf8').trim(),
    flags: PAGES_ONLY,
    write(folder) {
      for (const path of paths) write(folder, path, readFileSync(fileOf(www, path)), BEFORE);
    },
    change: (folder) => changePages(folder, toChange()),
  };
}

function startFolder(folder: string, kind: Kind): Promise<Server> {
  const child = fork(join(REPOSITORY, 'bench', 'folder-server.ts'), [folder, kind], {
    cwd: REPOSITORY,
    execArgv: ['--import', 'tsx'],
  });
  const answer = () =>
    new Promise<number>((resolve, reject) => {
      const onExit = (code: number | null) => reject(new Error(`the server ended with ${code}`));
      child.once('exit', onExit);
      child.once('message', (value) => {
        child.off('exit', onExit);
        resolve(value as number);
      });
    });
  return answer().then((port) => ({
    origin: `http://127.0.0.1:${port}`,
    sent() {
      const asked = answer();
      child.send('sent');
      return asked;
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  }));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Debian's nginx with its own ETag and Last-Modified, in the foreground, so that it ends with this process's word. */
async function startNginx(folder: string, home: string): Promise<Server> {
  const port = await freePort();
  const log = join(home, 'access.log');
  mkdirSync(home, { recursive: true });
  writeFileSync(log, '');
  writeFileSync(
    join(home, 'nginx.conf'),
    `daemon off; master_process off; worker_processes 1; pid ${home}/nginx.pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  types { text/html html; } log_format sent '$body_bytes_sent'; access_log ${log} sent;
  client_body_temp_path ${home}/b; proxy_temp_path ${home}/p; fastcgi_temp_path ${home}/f; uwsgi_temp_path ${home}/u; scgi_temp_path ${home}/s;
  keepalive_requests 100000; etag on;
  server { listen 127.0.0.1:${port}; root ${folder}; index index.html; }
}`,
  );
  const child = spawn(NGINX, ['-c', join(home, 'nginx.conf'), '-p', home], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const origin = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    try {
      await (await fetch(`${origin}/`)).arrayBuffer();
      break;
    } catch (error) {
      if (tries === 100 || child.exitCode !== null) throw new Error(`nginx: ${complaint}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  truncateSync(log);
  return {
    origin,
    async sent() {
      const lines = readFileSync(log, 'utf8').trim().split('\n').map(Number);
      truncateSync(log);
      return lines.reduce((sum, bytes) => sum + bytes, 0);
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

interface Second {
  cpuMs: number;
  bytes: number;
  wrong: string[];
  summary: Record<string, number>;
}

const crawlOf = ({ origin }: Server, { start, flags }: Site, file: string) => [
  ...['crawl', `${origin}${start}`, '--db', file],
  ...[...flags, ...FLAGS],
];

async function crawlAgain(
  server: Server,
  site: Site,
  file: string,
  mode: string,
  expected: ReadonlyMap<string, string>,
): Promise<Second> {
  await server.sent();
  const measured = await measureSumi([...crawlOf(server, site, file), '--mode', mode]);
  const bytes = await server.sent();
  const rows = JSON.parse(await readFromSumi(['changes', '--db', file, '--format', 'json'])) as {
    url: string;
    outcome: string;
  }[];
  const found = new Map(rows.map(({ url, outcome }) => [decodeURIComponent(new URL(url).pathname), outcome]));
  const wrong = [...new Set([...found.keys(), ...expected.keys()])]
    .filter((path) => found.get(path) !== expected.get(path))
    .map((path) => `${path}: ${found.get(path) ?? 'nothing'}, not ${expected.get(path) ?? 'nothing'}`);
  const database = new Sqlite(file, { readonly: true });
  const summary = database
    .prepare('SELECT new, changed, unchanged, gone, failed, bytes_saved FROM runs ORDER BY id DESC LIMIT 1')
    .get() as Record<string, number>;
  database.close();
  return { cpuMs: measured.cpuMs, bytes, wrong, summary };
}

async function judge(kind: Kind, site: Site, rounds: number): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const www = join(folder, 'www');
    site.write(www);
    const server =
      kind === 'nginx' ? await startNginx(www, join(folder, 'nginx')) : await startFolder(www, kind);
    try {
      const first = join(folder, 'first.db');
      await measureSumi(crawlOf(server, site, first));
      const expected = site.change(www);
      const runs: Record<'full' | 'incremental', Second[]> = { full: [], incremental: [] };
      // Interleaved, each on its own copy of what the first run left.
      for (let round = 0; round < rounds; round++) {
        const modes = ['full', 'incremental'] as const;
        for (const mode of round % 2 === 0 ? modes : modes.toReversed()) {
          const file = join(folder, `${mode}-${round}.db`);
          copyFileSync(first, file);
          runs[mode].push(await crawlAgain(server, site, file, mode, expected));
        }
      }
      return rowsOf(kind, site, runs);
    } finally {
      await server.stop();
    }
  });
}

function rowsOf(
  kind: Kind,
  site: Site,
  { full, incremental }: Record<'full' | 'incremental', Second[]>,
): Row[] {
  const cpu = (runs: Second[]) => median(runs.map(({ cpuMs }) => cpuMs));
  const bytes = (runs: Second[]) => median(runs.map((run) => run.bytes));
  const wrong = [...full, ...incremental].flatMap((run) => run.wrong);
  const name = `${kind}, ${site.name}`;
  const found = Object.entries(incremental[0].summary).map(([outcome, n]) => `${outcome} ${n}`);
  const rows = [
    shown(`${name}: incremental run`, found.join(', ')),
    shown(
      `${name}: CPU, full and incremental`,
      `${cpu(full).toFixed(0)} and ${cpu(incremental).toFixed(0)} ms`,
    ),
    shown(`${name}: bytes, full and incremental`, `${bytes(full)} and ${bytes(incremental)}`),
    atMost(`${name}: pages told wrongly, in all runs`, wrong.length, 0),
  ];
  if (wrong.length > 0) rows.push(failed(`${name}: told wrongly`, wrong.slice(0, 3).join('; ')));
  if (kind === 'none') return rows;
  // Round by round: what runs one after the other runs in the same minute of the machine.
  const share = 100 * median(incremental.map(({ cpuMs }, round) => cpuMs / full[round].cpuMs));
  const figure = `${name}: CPU of an incremental run`;
  return [
    ...rows,
    atMost(
      `${name}: bytes of an incremental run`,
      (100 * bytes(incremental)) / bytes(full),
      10,
      '% of a full one',
    ),
    atMost(figure, share, 40, '% of a full one'),
  ];
}

/** Debian's, installed where it is not there yet. */
function whyNoNginx(): string | undefined {
  try {
    if (!existsSync(NGINX)) installPackages(['nginx-light']);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export const scenario: Scenario = {
  name: 'incremental',
  about: 'a site of 5,000 pages again, 5 % changed: with ETags, from nginx, without validators',
  async run({ quick }) {
    const [pages, rounds] = quick ? [1000, 1] : [5000, 7];
    const rows: Row[] = [];
    const cases = [
      ['etags', '4 KB'],
      ['nginx', '4 KB'],
      ['none', '23 KB'],
      ['etags', '23 KB'],
      ['nginx', '23 KB'],
      ['etags', '36 KB'],
    ] as const;
    const missing = whyNoNginx();
    for (const [kind, weight] of cases) {
      if (kind === 'nginx' && missing !== undefined) rows.push(skipped('nginx', missing));
      else rows.push(...(await judge(kind, madeSite(pages, weight), rounds)));
    }
    const noPages = missing ?? whyNoPeers();
    if (noPages !== undefined) rows.push(skipped('real pages', noPages));
    else rows.push(...(await judge('nginx', await realSite(), rounds)));
    return rows;
  },
};

// The service against the command beside it: pages a second through `sumi serve`, with and without clients that listen;
// four polite projects at once; what the indexes at a run's end cost. The site's own log tells the pace, and each side is
// a process of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { inTemporaryFolder, measureSumi, plainEnvironment, readFromSumi, SUMI } from './run-sumi.ts';
import { atLeast, atMost, lessThan, median, type Row, type Scenario, shown } from './scenario.ts';
import { type SiteProcess, startSite } from './start-site.ts';

const AT_ONCE = 64;
const CLIENTS = 200;
const MEGABYTE = 1024;
/** About 40 KB, as pages of the web are. */
const PAGES = { linksPerPage: 60, textWords: 5200 };

interface Service {
  url: string;
  /** Resident memory at its largest, in MB. */
  largestMb(): number;
  stop(): Promise<void>;
}

interface Phase {
  state: string;
  project_id: string;
  started_at: string;
  completed_at: string;
  pages_crawled: number;
  message: string;
}

function startService(db: string, flags: readonly string[] = []): Promise<Service> {
  const args = [SUMI, 'serve', '--db', db, '--port', '0', '--egress-allow', '127.0.0.0/8', '--json'];
  const limits = ['--concurrency', `${AT_ONCE}`, '--max-pages-limit', '10000000', '--no-robots'];
  const child: ChildProcess = spawn(process.execPath, [...args, ...limits, ...flags], {
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`sumi serve ended with ${code}`)));
    let told = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      told += chunk.toString();
      const line = told.split('\n').find((one) => one.includes('"url"'));
      if (line === undefined) return;
      resolve({
        url: (JSON.parse(line) as { url: string }).url.replace(/\/$/, ''),
        largestMb: () =>
          Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / MEGABYTE,
        async stop() {
          child.kill('SIGTERM');
          await ended;
        },
      });
    });
  });
}

async function ask<T>(url: string, body?: object): Promise<T> {
  const answer = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

async function makeProject(service: Service, site: string, settings: object): Promise<string> {
  const name = `${site} ${Math.random()}`;
  return (await ask<{ id: string }>(`${service.url}/api/v1/projects`, { name, website_url: site, settings }))
    .id;
}

/** Begins a run and waits for its end; asks rarely, because asking is work for the service, too. */
async function runToEnd(service: Service, project: string): Promise<Phase> {
  const phases = `${service.url}/api/v1/projects/${project}/phases/crawl`;
  await ask(`${phases}/run`, {});
  for (;;) {
    const phase = await ask<Phase>(`${phases}/status`);
    if (phase.state === 'completed') return phase;
    if (phase.state === 'failed') throw new Error(phase.message);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** By the log of the site, from the first request to the last. */
async function rateOf(site: SiteProcess): Promise<number> {
  const times = (await site.log()).map(({ atMs }) => atMs);
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const time of times) [first, last] = [Math.min(first, time), Math.max(last, time)];
  return ((times.length - 1) * 1000) / (last - first);
}

type Clients = (service: Service, project: string) => Promise<() => void>;

const NOBODY: Clients = async () => () => {};

/** They read everything. */
const LISTENERS: Clients = async ({ url }, project) => {
  const sockets = Array.from({ length: CLIENTS }, () => new WebSocket(`${url}/api/v1/ws`));
  for (const socket of sockets)
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('open', () => {
        socket.send(JSON.stringify({ type: 'subscribe', project_id: project }));
        resolve();
      });
    });
  return () => {
    for (const socket of sockets) socket.terminate();
  };
};

/** They subscribe and never read: what waits for them fills the buffers of the system first. */
const DEAF: Clients = async ({ url }, project) => {
  const { hostname, port } = new URL(url);
  const message = Buffer.from(JSON.stringify({ type: 'subscribe', project_id: project }));
  const frame = Buffer.concat([Buffer.from([0x81, 0x80 | message.length, 0, 0, 0, 0]), message]);
  const sockets: Socket[] = [];
  for (let client = 0; client < CLIENTS; client++) {
    const socket = connect({ host: hostname, port: Number(port) });
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.once('connect', () => {
        const head = ['GET /api/v1/ws HTTP/1.1', `Host: ${hostname}:${port}`, 'Connection: Upgrade'];
        const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
        socket.write([...head, 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', key, '', ''].join('\r\n'));
        socket.write(frame);
        socket.pause();
        resolve();
      });
    });
    sockets.push(socket);
  }
  return () => {
    for (const socket of sockets) socket.destroy();
  };
};

const FAST = {
  ...{ delay_seconds: 0, respect_robots_txt: false, discover: ['links'], adaptive_delay: false },
  ...{ max_concurrent: AT_ONCE, max_pages: 10_000_000 },
};

async function crawlThroughService(
  site: SiteProcess,
  clients: Clients,
): Promise<{ rate: number; largestMb: number }> {
  await site.forget();
  return inTemporaryFolder(async (folder) => {
    const service = await startService(join(folder, 'sumi.db'));
    try {
      const project = await makeProject(service, `${site.origins[0]}/`, FAST);
      const leave = await clients(service, project);
      await runToEnd(service, project);
      const largestMb = service.largestMb();
      leave();
      return { rate: await rateOf(site), largestMb };
    } finally {
      await service.stop();
    }
  });
}

const flagsOf = (db: string) => [
  ...['--db', db, '--delay', '0', '--no-robots', '--no-adaptive-delay', '-q'],
  ...['--concurrency', `${AT_ONCE}`, '--per-host', `${AT_ONCE}`],
];

async function crawlByCommand(site: SiteProcess, more: readonly string[] = []) {
  await site.forget();
  return inTemporaryFolder(async (folder) => {
    const args = ['crawl', `${site.origins[0]}/`, ...flagsOf(join(folder, 'sumi.db')), ...more];
    const { cpuMs } = await measureSumi(args);
    return { rate: await rateOf(site), cpuMs };
  });
}

async function comparePace(pages: number, rounds: number): Promise<Row[]> {
  const site = await startSite({ seed: 1, pages, ...PAGES }, true);
  const rates: Record<'command' | 'service' | 'listeners' | 'deaf', number[]> = {
    ...{ command: [], service: [], listeners: [], deaf: [] },
  };
  const memory: Record<'service' | 'deaf', number[]> = { service: [], deaf: [] };
  const cpu: Record<'plain' | 'indexed', number[]> = { plain: [], indexed: [] };
  try {
    for (let round = 0; round < rounds; round++) {
      const plain = await crawlByCommand(site);
      rates.command.push(plain.rate);
      cpu.plain.push(plain.cpuMs);
      const alone = await crawlThroughService(site, NOBODY);
      rates.service.push(alone.rate);
      memory.service.push(alone.largestMb);
      rates.listeners.push((await crawlThroughService(site, LISTENERS)).rate);
      const deaf = await crawlThroughService(site, DEAF);
      rates.deaf.push(deaf.rate);
      memory.deaf.push(deaf.largestMb);
      cpu.indexed.push((await crawlByCommand(site, ['--full-text', '--sections'])).cpuMs);
    }
  } finally {
    await site.stop();
  }
  const rate = (side: keyof typeof rates) => median(rates[side]);
  const more = median(memory.deaf.map((mb, round) => mb - memory.service[round]));
  return [
    shown('pages/s of sumi crawl', rate('command')),
    shown('pages/s through the service', rate('service')),
    atLeast('through the service, of sumi crawl', rate('service') / rate('command'), 0.95),
    atLeast(`with ${CLIENTS} subscribers, of sumi crawl`, rate('listeners') / rate('command'), 0.9),
    shown(`with ${CLIENTS} deaf subscribers, of sumi crawl`, rate('deaf') / rate('command')),
    lessThan(`memory for ${CLIENTS} deaf subscribers`, more, 20, 'MB'),
    atMost(
      'CPU of a crawl with section counts and full text, of one without',
      median(cpu.indexed) / median(cpu.plain),
      1.1,
    ),
  ];
}

const seconds = ({ started_at, completed_at }: Phase) =>
  (Date.parse(completed_at) - Date.parse(started_at)) / 1000;

/** A delay of a fifth of a second: what takes time is politeness, not work. */
async function comparePolite(pages: number): Promise<Row[]> {
  // Each host has its own clock: four of them are four sites.
  const site = await startSite(
    { seed: 1, pages: pages * 4, hosts: 4, linksPerPage: 10, textWords: 100 },
    false,
  );
  const settings = { delay_seconds: 0.2, discover: ['links'], max_pages: 10_000, max_concurrent: 1 };
  try {
    return await inTemporaryFolder(async (folder) => {
      const db = join(folder, 'sumi.db');
      const service = await startService(db);
      let rows: Row[];
      try {
        const alone: number[] = [];
        for (const origin of site.origins) {
          const project = await makeProject(service, `${origin}/`, settings);
          alone.push(seconds(await runToEnd(service, project)));
        }
        const projects = await Promise.all(
          site.origins.map((origin) => makeProject(service, `${origin}/`, settings)),
        );
        const began = performance.now();
        await Promise.all(projects.map((project) => runToEnd(service, project)));
        const together = (performance.now() - began) / 1000;
        rows = [
          shown('longest of four polite projects alone', Math.max(...alone), 's'),
          atMost('four at once, of the longest alone', together / Math.max(...alone), 1.05),
        ];
      } finally {
        await service.stop();
      }
      const audit = JSON.parse(await readFromSumi(['audit', '--db', db, '--json'])) as {
        violations: number;
      };
      return [...rows, atMost('violations of the audit', audit.violations, 0)];
    });
  } finally {
    await site.stop();
  }
}

export const scenario: Scenario = {
  name: 'service',
  about: 'sumi serve against sumi crawl: pace, subscribers, projects at once, indexes',
  async run({ quick }): Promise<Row[]> {
    const pace = await comparePace(quick ? 500 : 10_000, quick ? 1 : 3);
    return [...pace, ...(await comparePolite(quick ? 10 : 100))];
  },
};

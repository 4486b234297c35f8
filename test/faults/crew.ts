// A crew of real processes (`sumi crawl`, `sumi worker`) on a real PostgreSQL and the fake web, and what a test may know
// of them from outside: their exit codes and words, the rows, who had which lease when. Nobody outlives its test.
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect } from 'vitest';
import type { SiteGraphOptions } from '../../src/demo/site-graph.ts';
import { connect, disconnect } from '../../src/store/postgres/connection.ts';
import { openForWriting } from '../../src/store/postgres/open-database.ts';
import { makeFolder, type Running, startSumi, sumi } from '../cli/run-sumi.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import type { PostgresDatabases } from '../servers/start-postgres.ts';
import { answer, type FakeWeb, type FakeWebOptions, type Handler, startFakeWeb } from '../web/fake-web.ts';
import { type Beats, startBeats } from './beats.ts';

export type Row = Record<string, unknown>;

/** One change of a host's lease, as the database saw it. Times are wall milliseconds. */
export interface LeaseChange {
  at: number;
  host: string;
  owner: string | null;
  until: number | null;
}

export interface CrewStore {
  address: string;
  rows<T = Row>(text: string): Promise<T[]>;
  /** Asks again and again until the rows please. */
  until<T = Row>(text: string, pleases: (rows: T[]) => boolean): Promise<T[]>;
  /** Resolves when each of them holds a host. */
  allHold(workers: readonly Running[]): Promise<unknown>;
  leases(): Promise<LeaseChange[]>;
  /** The rows of `sumi pages`, by URL, without what differs from one crawl to the next by right. */
  pages(project?: string): Promise<Row[]>;
  audit(): Promise<{ violations: number; requests: number; details: unknown[] }>;
}

interface Crew {
  folder: string;
  /** How late this process, and with it the fake web, may have seen a request. */
  readonly beats: Beats;
  web(options: FakeWebOptions): Promise<FakeWeb>;
  /** No host gets beyond its robots.txt, which is none, while the gate is shut. It is open at first. */
  gatedWeb(graph: SiteGraphOptions): Promise<{ web: FakeWeb; gate: Gate }>;
  /** A new database, with its tables, whose leases are written down. */
  store(server?: PostgresDatabases, addressOf?: (database: string) => string): Promise<CrewStore>;
  start(args: readonly string[], env?: Record<string, string>): Running;
  /** The rows that an undisturbed crawl into a file gives, asked without pauses. */
  calmRows(urls: readonly string[], flags?: readonly string[]): Promise<Row[]>;
}

const LEASE_HISTORY = `
CREATE SCHEMA judge;
CREATE TABLE judge.lease (id bigserial, at float8, host text, owner text, until float8);
CREATE FUNCTION judge.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO judge.lease (at, host, owner, until)
  VALUES (extract(epoch FROM clock_timestamp()) * 1000, NEW.name, NEW.lease_owner, NEW.lease_until);
  RETURN NULL;
END $$;
CREATE TRIGGER note AFTER UPDATE OF lease_owner, lease_until ON host FOR EACH ROW EXECUTE FUNCTION judge.note()`;

/** Decided by clocks, by the store, or by which of two links was read first. */
const OWN_COLUMNS = new Set([
  'id',
  'visited_at',
  'discovered_at',
  'response_ms',
  'referrer_id',
  'redirect_to',
  'body_key',
]);

export function useCrew(): Crew {
  const folder = makeFolder();
  const beats = startBeats();
  const running = new Set<Running>();
  const ends: (() => Promise<unknown>)[] = [];

  afterEach(async () => {
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.allSettled([...running].map(({ finished }) => finished));
    for (const end of ends.splice(0).reverse()) await end();
  });

  const readRows = async (at: readonly string[]) => {
    const list = await sumi(['pages', ...at, '--format', 'json'], { cwd: folder.path });
    expect([list.code, list.stderr]).toEqual([0, '']);
    return comparable(JSON.parse(list.stdout) as Row[]);
  };

  const openWeb = async (options: FakeWebOptions) => {
    const web = await startFakeWeb(options);
    ends.push(web.close);
    return web;
  };

  return {
    folder: folder.path,
    beats,
    web: openWeb,
    async gatedWeb(graph) {
      const gate = createGate();
      gate.open();
      const robots: Handler = (exchange) =>
        void gate.opened.then(() => answer(exchange, { status: 404, body: 'none' }));
      return { gate, web: await openWeb({ graph: { linksPerPage: 8, textWords: 40, ...graph }, robots }) };
    },
    async store(given, addressOf = (database) => database) {
      const server = given ?? (await sharedPostgres());
      const database = await server.newDatabase();
      if (given === undefined) ends.push(() => server.dropDatabase(database));
      const made = await openForWriting(database, { max: 1, applicationName: 'test' });
      await disconnect(made.sql);
      await server.run(LEASE_HISTORY, database);
      const address = addressOf(database);
      const sql = connect(address, { max: 1, applicationName: 'test' });
      ends.push(() => disconnect(sql));
      const rows = async <T>(text: string) => [...(await sql.unsafe(text))] as T[];
      const until = async <T>(text: string, pleases: (found: T[]) => boolean) => {
        for (;;) {
          const found = await rows<T>(text);
          if (pleases(found)) return found;
          await pause(10);
        }
      };
      return {
        address,
        rows,
        until,
        allHold: (workers) =>
          until<{ owner: string }>('SELECT lease_owner AS owner FROM host', (held) =>
            workers.every((worker) => held.some(({ owner }) => isOwnedBy(owner, worker))),
          ),
        leases: () => rows('SELECT at, host, owner, until FROM judge.lease ORDER BY id'),
        pages: (project) => readRows(['--store', address, ...(project ? ['--project', project] : [])]),
        async audit() {
          const { stdout, stderr } = await sumi(['audit', '--store', address, '--json']);
          expect(stderr).toBe('');
          return JSON.parse(stdout);
        },
      };
    },
    start(args, env = {}) {
      const started = startSumi(args, { cwd: folder.path, env });
      running.add(started);
      void started.finished.finally(() => running.delete(started)).catch(() => {});
      return started;
    },
    async calmRows(urls, flags = []) {
      const db = folder.file(`calm-${crypto.randomUUID()}.db`);
      const finished = await sumi(['crawl', ...urls, ...flags, '--delay', '0', '--db', db, '-q']);
      expect(finished).toEqual({ code: 0, stdout: '', stderr: '' });
      return readRows(['--db', db]);
    },
  };
}

function comparable(rows: Row[]): Row[] {
  return rows
    .map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !OWN_COLUMNS.has(name))))
    .sort((a, b) => (String(a.url) < String(b.url) ? -1 : 1));
}

/** Every home page of the web. */
export const homes = (web: FakeWeb): string[] => web.origins.map((origin) => `${origin}/`);

/** Resolves when the web has been asked so often. */
export async function reached(web: FakeWeb, requests: number): Promise<void> {
  while (web.log.length < requests) await pause(5);
}

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
  close(): void;
}

/** What waits for `opened` goes on when the gate opens. */
function createGate(): Gate {
  let open = () => {};
  let opened = Promise.resolve();
  const close = () => {
    opened = new Promise((resolve) => {
      open = resolve;
    });
  };
  close();
  return {
    get opened() {
      return opened;
    },
    open: () => open(),
    close,
  };
}

/** A worker's leases carry the number of its process. */
export const isOwnedBy = (owner: string | null, { child }: Running): boolean =>
  owner?.split(':')[1] === String(child.pid);

// What a project amounts to through the views, the same for every store: ids are put as what they stand for (a page's
// URL, a run's number in its project), lists are in the order of discovery.
import Sqlite from 'better-sqlite3';
import { connect, disconnect } from '../../src/store/postgres/connection.ts';

type Row = Record<string, unknown>;
export type Ask = (sql: string) => Promise<Row[]>;

export async function askStore<T>(address: string, use: (ask: Ask) => Promise<T>): Promise<T> {
  if (address.startsWith('postgres:')) {
    const sql = connect(address, { max: 1, applicationName: 'test' });
    try {
      return await use(async (text) => [...(await sql.unsafe(text))] as Row[]);
    } finally {
      await disconnect(sql);
    }
  }
  const db = new Sqlite(address, { readonly: true, timeout: 5000 });
  try {
    return await use(async (text) => db.prepare(text).all() as Row[]);
  } finally {
    db.close();
  }
}

export interface ProjectFacts {
  runs: Row[];
  pages: Row[];
  texts: Row[];
  links: Row[];
  visits: Row[];
  page_changes: Row[];
  sitemap_entries: Row[];
  orphans: Row[];
  discovery_status: Row[];
  revisits: Row[];
  settings: Row[];
  page_depths: Row[];
  domains: Row[];
  requests: Row[];
  waiting: Row[];
}

export function projectFacts(address: string, project: string): Promise<ProjectFacts> {
  return askStore(address, async (ask) => {
    const [{ id: projectId }] = await ask(`SELECT id FROM project WHERE name = '${project}'`);
    const runs = await ask(`SELECT * FROM runs WHERE project = '${project}' ORDER BY id`);
    const pages = await ask(`SELECT * FROM pages WHERE project_id = ${projectId} ORDER BY id`);
    const runOf = new Map(runs.map(({ id }, i) => [id, i + 1]));
    const urlOf = new Map(pages.map(({ id, url }) => [id, url]));
    const isOurs = (name: string) => (row: Row) => urlOf.has(row[name]);
    const named = (row: Row): Row => {
      const { id: _, project_id: __, project: ___, ...rest } = row;
      for (const name of ['page_id', 'from_page_id', 'to_page_id', 'referrer_id'])
        if (typeof rest[name] === 'number') rest[name] = urlOf.get(rest[name]) ?? 'a page without a row';
      for (const name of ['run_id', 'discovered_run', 'lost_run'])
        if (typeof rest[name] === 'number') rest[name] = runOf.get(rest[name]) ?? 'a run without a row';
      return rest;
    };
    const hosts = new Set(pages.map(({ host }) => host));
    const runList = [...runOf.keys()].join(', ') || '0';
    const depths = await ask('SELECT * FROM page_depths ORDER BY id');
    const requests = await ask(
      `SELECT q.run_id, h.name AS host, q.page_id, q.kind, q.slot_at, q.sent_at, q.ended_at, q.delay_ms, q.per_host,
         q.status_code, q.wire_bytes, q.blocked_until, q.failure
       FROM request q JOIN host h ON h.id = q.host_id WHERE q.run_id IN (${runList}) ORDER BY q.id`,
    );
    return {
      runs: runs.map(named),
      pages: pages.map(named),
      texts: await ask(
        `SELECT url, content_text FROM crawled_pages WHERE project_id = ${projectId} ORDER BY id`,
      ),
      links: (await ask('SELECT * FROM links ORDER BY from_page_id, id'))
        .filter(isOurs('from_page_id'))
        .map(named),
      visits: (await ask('SELECT * FROM visits ORDER BY id')).filter(isOurs('page_id')).map(named),
      page_changes: (await ask('SELECT * FROM page_changes ORDER BY id'))
        .filter(isOurs('page_id'))
        .map(named),
      sitemap_entries: (
        await ask(
          'SELECT s.*, e.lost_run FROM sitemap_entries s JOIN sitemap_entry e ON e.page_id = s.page_id ORDER BY s.id',
        )
      )
        .filter(isOurs('page_id'))
        .map(named),
      discovery_status: (
        await ask(`SELECT * FROM discovery_status WHERE project_id = ${projectId} ORDER BY host`)
      ).map(named),
      revisits: (
        await ask(
          'SELECT page_id, learned_at, rate_shape, rate_days, signals, signals_in_all, flags FROM revisit ORDER BY page_id',
        )
      )
        .filter(isOurs('page_id'))
        .map(named),
      orphans: (await ask('SELECT page_id, run_id FROM orphan ORDER BY page_id'))
        .filter(isOurs('page_id'))
        .map(named),
      settings: await ask(`SELECT settings FROM project WHERE id = ${projectId}`),
      page_depths: depths
        .filter(isOurs('page_id'))
        .map((row) => ({ ...named(row), quality_origin: 'project' })),
      domains: (await ask('SELECT * FROM domains ORDER BY domain'))
        .filter(({ domain }) => hosts.has(domain))
        .map(named),
      // A file keeps fractions of a slot's millisecond, PostgreSQL does not.
      requests: requests.map((row) => ({ ...named(row), slot_at: Math.round(row.slot_at as number) })),
      waiting: await ask(
        `SELECT h.name AS host, q.waiting, q.requests, q.closed_state, q.closed_reason FROM host_queue q
         JOIN host h ON h.id = q.host_id WHERE q.project_id = ${projectId}
           AND (q.waiting > 0 OR q.requests > 0 OR q.closed_state IS NOT NULL) ORDER BY h.name`,
      ),
    };
  });
}

// How long a worker waits for its next page when very many URLs wait: hosts and URLs are put into the tables by the
// database itself, then hosts are leased, a page claimed and settled, and the host given back, through the store port.
// The library as it is built: its driver of PostgreSQL is the mended one.
import { openStore } from 'sumi-ripple';
import { PAGE_STATES } from '../src/frontier/page-state.ts';
import type { Sql } from '../src/store/postgres/connection.ts';

const OWNER = 'bench';
const LEASE_MS = 60_000;

interface ClaimOptions {
  address: string;
  sql: Sql;
  urls: number;
  hosts: number;
  rounds: number;
}

interface ClaimLatency {
  p50Ms: number;
  p99Ms: number;
  mostMs: number;
}

async function fill({ sql, urls, hosts }: ClaimOptions, projectId: number, runId: number): Promise<void> {
  await sql.unsafe(`
    INSERT INTO host (name) SELECT 'host-' || n || '.example' FROM generate_series(1, ${hosts}) n;
    INSERT INTO host_queue (project_id, host_id, waiting)
      SELECT ${projectId}, id, ${Math.floor(urls / hosts)} FROM host;
    INSERT INTO url (host_id, project_id, identity, state, priority, rank, depth, discovered_run, discovered_at, url)
      SELECT h.id, ${projectId}, gen_random_uuid(), ${PAGE_STATES.Queued}, 1, 1, 3, ${runId}, 0,
        'https://' || h.name || '/section-' || n % 37 || '/page-number-' || n || '.html'
      FROM generate_series(1, ${Math.floor(urls / hosts)}) n, host h`);
  await sql.unsafe('ANALYZE');
}

export async function measureClaims(options: ClaimOptions): Promise<ClaimLatency> {
  const opened = await openStore(options.address, (error) => {
    throw error;
  });
  const { clock } = opened;
  const took: number[] = [];
  try {
    const request = { project: 'claims', owner: OWNER, configHash: 'bench', config: '{}', fresh: false };
    const store = await opened.begin({ ...request, metadata: null, now: clock.now() });
    const { projectId, runId } = store.start;
    await fill(options, projectId, runId);
    for (let round = 0; round < options.rounds; round++) {
      const began = performance.now();
      const [lease] = await store.frontier.lease(1, clock.now(), LEASE_MS);
      const { claims } = await store.frontier.claim(lease, 1, clock.now());
      took.push(performance.now() - began);
      await store.frontier.settle(lease, {
        claim: claims[0],
        state: PAGE_STATES.Processed,
        reason: null,
        requeue: null,
        touch: null,
        visit: null,
        change: null,
        changeFrequency: 0,
        changesDetected: 0,
        facts: null,
        text: null,
        links: null,
        candidates: [],
        redirect: null,
        countsAsPage: true,
      });
      // The next one is due in a second, as with a polite crawl: it goes behind all others.
      lease.state.notBefore = Math.round(clock.now() + 1000);
      await store.frontier.release(lease);
    }
    await store.run.finish('interrupted', clock.now(), null);
  } finally {
    await opened.close();
  }
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(share * took.length))];
  return { p50Ms: at(0.5), p99Ms: at(0.99), mostMs: at(1) };
}

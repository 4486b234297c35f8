import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Running } from '../cli/run-sumi.ts';
import { type PostgresServer, startPostgres } from '../servers/start-postgres.ts';
import type { FakeWeb } from '../web/fake-web.ts';
import { type CrewStore, homes, type Row, reached, useCrew } from './crew.ts';
import { expectNoneLost, expectPolite, expectRepeatsOnlyOf, expectSettled } from './judge.ts';

const crew = useCrew();
const DELAY_S = 0.2;
const PAGES = 360;
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.remove());

async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  for (const statement of [
    `ALTER SYSTEM SET default_transaction_read_only = ${value}`,
    'SELECT pg_reload_conf()',
  ])
    await server.run(statement, `${server.url}?options=-c%20default_transaction_read_only%3Doff`);
}

interface Work {
  web: FakeWeb;
  store: CrewStore;
  calm: Row[];
  workers: Running[];
}

/** A crawl with two more workers, under way. */
async function begin(addressOf?: (database: string) => string): Promise<Work> {
  const { web, gate } = await crew.gatedWeb({ seed: 7, pages: PAGES, hosts: 24 });
  const calm = await crew.calmRows(homes(web));
  web.log.length = 0;
  gate.close();
  const store = await crew.store(server, addressOf);
  const at = ['--store', store.address, '--concurrency', '4', '-q'];
  const workers = [crew.start(['crawl', ...homes(web), '--delay', String(DELAY_S), ...at])];
  await reached(web, 1);
  workers.push(crew.start(['worker', ...at, '--once']), crew.start(['worker', ...at, '--once']));
  await store.allHold(workers);
  gate.open();
  return { web, store, calm, workers };
}

async function expectWhole({ web, store, calm, workers }: Work): Promise<void> {
  for (const { finished } of workers) expect(await finished).toEqual({ code: 0, stdout: '', stderr: '' });
  expectNoneLost(web);
  expectPolite(web, crew.beats, DELAY_S * 1000);
  // Nobody died and no lease ran out: nothing is asked for twice.
  await expectRepeatsOnlyOf(web, store, []);
  await expectSettled(store, web);
  expect(await store.pages()).toEqual(calm);
}

describe('while workers crawl, PostgreSQL', () => {
  it.each(['fast', 'immediate'] as const)('is stopped (%s) and started again', async (how) => {
    const work = await begin();
    await reached(work.web, 80);
    await server.stop(how);
    // They go on with what they hold, or wait; both are seen by the time it is back.
    await server.start();
    await reached(work.web, 140);
    await server.restart(how);
    await expectWhole(work);
  });

  it('cuts all their connections again and again', async () => {
    const work = await begin();
    for (const requests of [40, 70, 100, 130, 160, 190]) {
      await reached(work.web, requests);
      await work.store.rows(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name LIKE 'sumi%'`,
      );
    }
    await expectWhole(work);
  });

  it('takes no writes for a while', async () => {
    const work = await begin();
    await reached(work.web, 80);
    const before = await work.store.rows<{ pages: number }>('SELECT pages FROM run');
    await setReadOnly('on');
    // A heartbeat is due every five seconds: each of the three has been refused by then.
    await work.store.until<{ silent: number }>(
      'SELECT extract(epoch FROM clock_timestamp()) * 1000 - max(seen_at) AS silent FROM worker',
      ([{ silent }]) => Number(silent) > 6000,
    );
    await setReadOnly('off');
    expect(before[0].pages).toBeLessThan(PAGES);
    await expectWhole(work);
  });

  it('dies, and its standby is promoted', async () => {
    const standby = await server.startStandby();
    try {
      // What was committed is on both: that is what an operator who must lose nothing sets.
      await server.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await server.run('SELECT pg_reload_conf()');
      const both = `127.0.0.1:${server.port},127.0.0.1:${standby.port}`;
      const work = await begin(
        (database) => `${database.replace(/127\.0\.0\.1:\d+/, both)}?target_session_attrs=read-write`,
      );
      await reached(work.web, 80);
      await server.stop('immediate');
      await standby.promote();
      await expectWhole(work);
    } finally {
      await standby.remove();
    }
  });
});

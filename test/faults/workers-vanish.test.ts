import { describe, expect, it } from 'vitest';
import { homes, reached, useCrew } from './crew.ts';
import { expectLeased, expectNoneLost, expectPolite, expectRepeatsOnlyOf, expectSettled } from './judge.ts';
import { connectionName, openConnections } from './open-connections.ts';
import { stopAtRest } from './stop-at-rest.ts';

const crew = useCrew();
const DELAY_S = 0.3;
const HOSTS = 200;
const FLAGS = ['--lease-seconds', '3', '--concurrency', String(HOSTS / 4), '-q'];

describe('four workers on 200 hosts', () => {
  it('two killed and one paused beyond its lease: the rows of a calm crawl, and nothing sent without a lease', async () => {
    const { web, gate } = await crew.gatedWeb({ seed: 31, pages: 1600, hosts: HOSTS });
    const calm = await crew.calmRows(homes(web));
    web.log.length = 0;
    gate.close();
    const store = await crew.store();
    const at = ['--store', store.address, ...FLAGS];
    const first = crew.start(['crawl', ...homes(web), '--delay', String(DELAY_S), ...at]);
    await reached(web, 1);
    const [second, third] = [crew.start(['worker', ...at]), crew.start(['worker', ...at, '--once'])];
    const paused = crew.start(['worker', ...at, '--once']);
    await store.allHold([first, second, third, paused]);
    gate.open();
    await reached(web, 600);
    await stopAtRest(paused.child);
    const connections = openConnections(paused.child.pid!);
    first.child.kill('SIGKILL');
    second.child.kill('SIGKILL');
    // Everything that waited for the one that sleeps is somebody else's by now.
    await store.until<{ owner: string }>(
      `SELECT h.lease_owner AS owner FROM host h JOIN host_queue q ON q.host_id = h.id
       WHERE q.waiting > 0 AND h.lease_owner LIKE '%:${paused.child.pid}:%'`,
      (rows) => rows.length === 0,
    );
    paused.child.kill('SIGCONT');
    expect(await third.finished).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await paused.finished).toEqual({ code: 0, stdout: '', stderr: '' });
    expectNoneLost(web);
    expectPolite(web, crew.beats, DELAY_S * 1000);
    const its = web.log.filter(({ remotePort, localAddress }) =>
      connections.has(connectionName(remotePort, localAddress)),
    );
    expect(its.length).toBeGreaterThan(0);
    await expectLeased(its, store, crew.beats, paused);
    await expectRepeatsOnlyOf(web, store, [first, second, paused]);
    await expectSettled(store, web);
    expect(await store.pages()).toEqual(calm);
  });
});

/** A page that changes at every look, minutes or less apart: what the commands say of how often it changes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';

const RUNS = 4;
const STORIES = [
  'the harbour opens again after the storm',
  'a bakery wins the prize for bread',
  'trains run late because of snow',
  'children plant trees behind the school',
];

let web: FakeWeb;
beforeAll(async () => {
  web = await startFakeWeb({
    pages: {
      // Two stores look at it one after the other.
      '/': (exchange) => answer(exchange, { body: `<title>News</title><p>${STORIES[exchange.nth % 4]}</p>` }),
    },
  });
});
afterAll(() => web.close());

describe.each(['SQLite', 'PostgreSQL'])('how often a page changes, on %s', (kind) => {
  const folder = makeFolder();
  let address: string | null = null;
  const run = async (...args: string[]) => {
    const env: Record<string, string> = address === null ? {} : { SUMI_STORE: address };
    const { code, stdout, stderr } = await sumi(args, { cwd: folder.path, env });
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  };

  beforeAll(async () => {
    if (kind === 'PostgreSQL') address = await (await sharedPostgres()).newDatabase();
    for (let n = 0; n < RUNS; n++) await run('crawl', web.url('/'), '--delay', '0', '--no-robots', '-q');
  });
  afterAll(async () => {
    if (address !== null) await (await sharedPostgres()).dropDatabase(address);
    folder.remove();
  });

  it('is at most 24 changes a day, and the same figure in why, changes, pages and the report', async () => {
    const [row] = JSON.parse(await run('pages', '--changing-more-than', '1/day', '--format', 'json'));
    // Three tenths of the way to 24, three times.
    expect(row.change_frequency).toBeCloseTo(24 * (1 - 0.7 ** (RUNS - 1)), 6);
    const figure = String(Number(row.change_frequency.toPrecision(3)));
    expect(await run('why', web.url('/'))).toContain(`3 changes seen, ${figure} a day on average`);
    expect(await run('changes', web.url('/'))).toContain(`3 changes seen, ${figure} a day on average`);
    expect(await run('pages', '--changing-more-than', '1/day')).toMatch(
      new RegExp(` 3 +${figure.replace('.', '\\.')} `),
    );
    expect(await run('report', '--html', '-')).toContain(`>${figure}<`);
    expect(JSON.parse(await run('why', web.url('/'), '--format', 'json')).change_frequency).toBe(
      row.change_frequency,
    );
    expect(JSON.parse(await run('pages', '--changing-more-than', '24', '--format', 'json'))).toEqual([]);
  });
});

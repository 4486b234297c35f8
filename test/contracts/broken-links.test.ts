/** What is broken and who links to it, and what lists leave out: one crawl, asked on both stores. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BrokenLinkFilter, findBrokenLinks } from '../../src/graph/broken-links.ts';
import { crawl, openResults, type Results } from '../../src/index.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { listed } from './little-crawl.ts';

/** More pages with links than a store reads at once. */
const MANY = 130;

let web: FakeWeb;
let isLaterGone = false;

beforeAll(async () => {
  const link = (href: string, text: string) => `<a href="${href}">${text}</a> `;
  const moved = (location: string) => ({ status: 301, headers: { location } });
  web = await startFakeWeb({
    hosts: 2,
    pages: {
      '0:/': (at) =>
        answer(at, {
          body:
            link('/dead', 'Our team') +
            link('/gone', 'Old') +
            link('/500', 'Five') +
            link('/moved', 'Moved') +
            link('/fine', 'Fine') +
            link('/later', 'Later') +
            link('/to-later', 'To later') +
            link('/was-moved', 'Was moved') +
            link('/fails-now', 'Fails now') +
            link(at.url('/x', 1), 'x') +
            link(at.url('/y', 1), 'y') +
            Array.from({ length: MANY }, (_, n) => link(`/p${n}`, 'p')).join(''),
        }),
      '0:/gone': { status: 410 },
      '0:/500': { status: 500 },
      '0:/moved': moved('/hop'),
      '0:/hop': moved('/dead2'),
      '0:/fine': moved('/p0'),
      '0:/to-later': moved('/later'),
      '0:/fails-now': (at) => answer(at, isLaterGone ? { status: 500 } : moved('/dead')),
      '0:/was-moved': (at) => answer(at, isLaterGone ? { status: 410 } : moved('/dead')),
      '0:/later': (at) =>
        answer(at, isLaterGone ? { status: 410 } : { body: link('/dead', 'from what is gone later') }),
      ...Object.fromEntries(
        Array.from({ length: MANY }, (_, n) => [`0:/p${n}`, link('/dead', `team ${n}`) + link('/', 'home')]),
      ),
    },
  });
});

afterAll(() => web.close());

describe.each(['SQLite', 'PostgreSQL'])('on %s', (kind) => {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-broken-'));
  let address = join(folder, 'sumi.db');
  let side: Results;

  const path = (url: string) => url.slice(web.origin.length);
  const broken = async (filter: BrokenLinkFilter = {}) =>
    (await listed(findBrokenLinks(side, filter))).map(
      ({ from_url, to_url, anchor, broken_url, state, status_code }) =>
        `${path(from_url)} [${anchor}] ${path(to_url)}${to_url === broken_url ? '' : ` → ${path(broken_url)}`} ${state} ${status_code}`,
    );

  beforeAll(async () => {
    if (kind === 'PostgreSQL') address = await (await sharedPostgres()).newDatabase();
    const options = {
      ...(kind === 'PostgreSQL' ? { store: address } : { db: address }),
      ...{ delay: 0, retries: 0, robots: false, anchorText: true, discover: ['links'], env: {} },
    };
    const run = async (project: string, ...startUrls: string[]) =>
      (await crawl({ ...options, project, startUrls, adaptiveDelay: false })).finished;
    isLaterGone = false;
    await run('site', web.url('/'));
    isLaterGone = true;
    await run('site', web.url('/'));
    await run('other', web.url('/dead'), web.url('/p1'));
    side = await openResults(address);
  });

  afterAll(async () => {
    await side?.close();
    if (kind === 'PostgreSQL') await (await sharedPostgres()).dropDatabase(address);
    rmSync(folder, { recursive: true });
  });

  it('every link to a broken page is told, with its text, the state and the status; redirects are followed', async () => {
    const links = await broken({ project: 'site' });
    expect(links.filter((link) => link.startsWith('/ '))).toEqual([
      '/ [Our team] /dead DeadLink 404',
      '/ [Old] /gone Gone 410',
      '/ [Five] /500 Failed 500',
      '/ [Moved] /moved → /dead2 DeadLink 404',
      '/ [Later] /later Gone 410',
      '/ [To later] /to-later → /later Gone 410',
      // They led to a broken page before they were broken themselves.
      '/ [Was moved] /was-moved Gone 410',
      '/ [Fails now] /fails-now Failed 500',
    ]);
    expect(links.filter((link) => !link.startsWith('/ ')).sort()).toEqual(
      Array.from({ length: MANY }, (_, n) => `/p${n} [team ${n}] /dead DeadLink 404`).sort(),
    );
  });

  it('links of a page that is itself gone are not told', async () => {
    expect((await broken()).filter((link) => link.startsWith('/later '))).toEqual([]);
  });

  it('some are asked for: of a project, from or to a page, the first few', async () => {
    expect(await broken({ project: 'other' })).toContain('/p1 [team 1] /dead DeadLink 404');
    expect((await broken({ project: 'other' })).length).toBeLessThan((await broken()).length);
    const site = (await side.projects()).find(({ project }) => project === 'site')!;
    const pageOf = async (of: string) => (await side.page(site.id, web.url(of)))!.id;
    expect(await broken({ pageIds: [await pageOf('/p7')] })).toEqual(['/p7 [team 7] /dead DeadLink 404']);
    expect(await broken({ pageIds: [await pageOf('/dead2')] })).toEqual([
      '/ [Moved] /moved → /dead2 DeadLink 404',
    ]);
    expect(await broken({ project: 'site', limit: 2 })).toHaveLength(2);
    expect(await broken({ limit: 0 })).toEqual([]);
  });

  it('skipped URLs of other hosts can be left out, and are counted', async () => {
    const all = await listed(side.pages({ project: 'site' }));
    const external = all.filter(({ reason }) => reason?.startsWith('scope: host'));
    expect(external).toHaveLength(2);
    const rest = await listed(side.pages({ project: 'site', withoutExternal: true }));
    expect(rest).toEqual(all.filter((row) => !external.includes(row)));
    expect([await side.countExternal('site'), await side.countExternal('nobody')]).toEqual([2, 0]);
    // The other project found the same two.
    expect(await side.countExternal(undefined)).toBe(4);
  });
});

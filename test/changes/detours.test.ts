/** Pages that were something else for a run: `sumi compare` tells what differs as if nothing had been in between. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToldChange } from '../../src/change/told-change.ts';
import { makeFolder, sumi } from '../cli/run-sumi.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type FakeWeb, type FixedAnswer, startFakeWeb } from '../web/fake-web.ts';

const page = (head: string, links: string[] = []): FixedAnswer => ({
  body: `${head}<main>Words. ${links.map((path) => `<a href="${path}">x</a>`).join(' ')}</main>`,
});
const MOVED: FixedAnswer = { status: 301, headers: { location: '/end' } };
const PDF: FixedAnswer = { headers: { 'content-type': 'application/pdf' }, body: '%PDF-1.7' };
const UNLISTED: FixedAnswer = { ...PDF, headers: { ...PDF.headers, 'x-robots-tag': 'noindex' } };
const ROBOTS = '<meta name="robots" content="noindex">';

/** What a run gets. */
const SITE: Record<string, (run: number) => FixedAnswer> = {
  '/': () => page('<title>Home</title>', ['/moved', '/back', '/end', '/file', '/left', '/wanted']),
  '/moved': (n) =>
    n === 1
      ? page('<title>A</title>', ['/', '/end'])
      : n === 2
        ? MOVED
        : page(`<title>B</title>${ROBOTS}`, ['/', '/back']),
  '/back': (n) => (n === 2 ? MOVED : page('<title>Same</title>', ['/'])),
  '/file': (n) => (n === 2 ? PDF : page(`<title>File ${n}</title>`, ['/only'])),
  '/left': (n) => (n === 1 ? page('<title>Left</title>') : n === 2 ? MOVED : PDF),
  '/wanted': (n) => (n < 3 ? page('<title>Wanted</title>') : UNLISTED),
  '/only': () => page('<title>Only</title>'),
  '/end': () => page('<title>End</title>'),
};

describe.each(['SQLite', 'PostgreSQL'])('on %s', (kind) => {
  const folder = makeFolder();
  let web: FakeWeb;
  let store: string[];
  let now = 1;

  beforeAll(async () => {
    store =
      kind === 'SQLite' ? ['--db', 'sumi.db'] : ['--store', await (await sharedPostgres()).newDatabase()];
    const pages = Object.fromEntries(
      Object.entries(SITE).map(([path, of]) => [
        path,
        (exchange: Parameters<typeof answer>[0]) => answer(exchange, of(now)),
      ]),
    );
    web = await startFakeWeb({ pages });
    const flags = ['--project', 'p', '--delay', '0.01', '--retries', '0', '-q', ...store];
    const crawl = async (...more: string[]) =>
      expect((await sumi(['crawl', `${web.origin}/`, ...flags, ...more], { cwd: folder.path })).stderr).toBe(
        '',
      );
    for (now = 1; now <= 3; now++) await crawl();
    await crawl('--accept-types', '*/*');
  });

  afterAll(async () => {
    await web.close();
    folder.remove();
  });

  async function told(...args: string[]): Promise<Record<string, ToldChange>> {
    const { code, stdout } = await sumi([...args, '--format', 'json', ...store], { cwd: folder.path });
    expect(code).toBe(0);
    const list = JSON.parse(stdout);
    const rows = (list.pages ?? list) as ToldChange[];
    return Object.fromEntries(rows.map((row) => [row.url.slice(web.origin.length), row]));
  }

  it('a page that led elsewhere for a run is compared with what it was before', async () => {
    const pages = await told('compare', '1', '3');
    expect(Object.keys(pages).sort()).toEqual(['/file', '/left', '/moved', '/wanted']);
    expect(pages['/moved']).toMatchObject({
      outcome: 'changed',
      parts: ['title', 'robots', 'links'],
      fields: [
        { name: 'title', before: 'A', after: 'B' },
        { name: 'robots', before: 'index, follow', after: 'noindex, follow' },
      ],
      links_added: [`${web.origin}/back`],
      links_removed: [`${web.origin}/end`],
    });
  });

  it('a page whose type was refused for a run is told by its type, and then by what differs', async () => {
    const type = { name: 'type', before: 'text/html', after: 'application/pdf' };
    const gone = await told('changes', '--run', '2');
    expect(gone['/file']).toMatchObject({ outcome: 'changed', parts: ['type'], fields: [type] });
    expect(gone['/only']).toMatchObject({ outcome: 'gone', known_by: 'orphan' });
    const back = await told('changes', '--run', '3');
    expect(back['/file'].fields).toEqual([{ ...type, before: type.after, after: type.before }]);
    expect(back['/only']).toMatchObject({ outcome: 'changed', known_by: 'orphan' });
    expect((await told('compare', '1', '2'))['/file'].fields).toEqual([type]);
    const title = { name: 'title', before: 'File 1', after: 'File 3' };
    const pages = await told('compare', '1', '3');
    expect(pages['/file']).toMatchObject({ parts: ['title'], fields: [title] });
    expect(pages['/left'].fields).toEqual([type]);
  });

  it('a page whose new type is read from some run on is told by all that it lost', async () => {
    expect((await told('compare', '2', '3'))['/wanted'].parts).toEqual(['type']);
    expect(await told('compare', '3', '4')).not.toHaveProperty('/wanted');
    const { parts, fields } = (await told('compare', '2', '4'))['/wanted'];
    expect(parts).toEqual(['title', 'robots', 'text', 'type']);
    expect(fields).toContainEqual({ name: 'robots', before: 'index, follow', after: 'noindex, follow' });
    expect((await told('changes', '--run', '4', '--all'))['/wanted'].outcome).toBe('unchanged');
    expect(await told('changes', '--run', '4')).not.toHaveProperty('/wanted');
  });

  it('each step is told by status and target alone', async () => {
    for (const run of ['2', '3'])
      expect((await told('changes', '--run', run))['/moved']).toMatchObject({
        parts: ['status', 'redirect'],
        links_added: [],
        links_removed: [],
      });
    expect((await told('compare', '1', '2'))['/moved'].parts).toEqual(['status', 'redirect']);
  });
});

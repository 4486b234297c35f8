import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToldChange } from '../../src/change/told-change.ts';
import { makeFolder, sumi } from '../cli/run-sumi.ts';
import { answer, type Exchange, type FakeWeb, type FixedAnswer, startFakeWeb } from '../web/fake-web.ts';

const folder = makeFolder();
let web: FakeWeb;
/** Which version of the site is served; the first crawl sees version 1. */
let version = 1;

const run = (...args: string[]) => sumi(args, { cwd: folder.path });

/** A page whose template is never the same twice: nonces, tokens, white space, the time outside of the main text. */
function page(title: string, main: string, head = ''): string {
  const nonce = Math.random().toString(36).slice(2);
  const links = ['/', '/a', '/b', '/moved', ...(version === 1 ? ['/old'] : ['/new'])];
  return `<!doctype html><html><head><title>${title}</title><meta name="csrf" content="${nonce}">${head}</head><body>
    <nav>${links.map((path) => `<a href="${path}">x</a>`).join(' '.repeat(1 + (nonce.length % 3)))}
    <a rel="nofollow" href="/login?session=${nonce}">log in</a></nav>
    <main>${main}</main><footer>Served at ${Date.now()}<script nonce="${nonce}">var t = "${nonce}"</script></footer></body></html>`;
}

const data = (price: string) =>
  `<script type="application/ld+json">{"@type":"Product","offers":{"price":"${price}"},"dateModified":"${new Date().toISOString()}"}</script>`;

/** By path: what each version answers; a version without an answer gives 404. */
const SITE: Record<string, (version: number) => FixedAnswer | null> = {
  '/': () => ({ body: page('Home', '<h1>Home</h1><p>Everything about ink and pens.</p>') }),
  '/a': (v) => ({
    body: page(
      v === 2 ? 'New ink' : 'Ink',
      `<p>Ink costs ${v === 2 ? 'twelve' : 'ten'} coins <script>alert(1)</script> and comes in black.</p>`,
      data(v === 2 ? '12' : '10'),
    ),
  }),
  // Where a word may be broken nobody sees.
  '/b': (v) => ({ body: page('Pens', `<p>Pens ne${v === 2 ? '&shy;' : ''}ver change.</p>`, data('1')) }),
  '/old': (v) => (v === 1 ? { body: page('Old', '<p>Soon gone.</p>') } : null),
  '/new': (v) => (v === 1 ? null : { body: page('Fresh & <new>', '<p>Quite new.</p>') }),
  '/moved': (v) =>
    v === 1 ? { body: page('Moved', '<p>Here.</p>') } : { status: 301, headers: { location: '/b' } },
};

beforeAll(async () => {
  const pages = Object.fromEntries(
    Object.entries(SITE).map(([path, body]) => [
      path,
      (exchange: Exchange) => {
        // Dates of servers count whole seconds: two runs within one would be no time apart.
        exchange.response.sendDate = false;
        answer(exchange, body(version) ?? { status: 404, body: 'no such page' });
      },
    ]),
  );
  web = await startFakeWeb({ pages });
  for (const [now, mode] of [
    [1, 'full'],
    [2, 'full'],
    [2, 'incremental'],
    [3, 'incremental'],
  ] as const) {
    version = now;
    const crawl = await run(
      'crawl',
      `${web.origin}/`,
      '--project',
      'shop',
      '--delay',
      '0.01',
      '--mode',
      mode,
      '-q',
    );
    expect(crawl).toMatchObject({ code: 0, stderr: '' });
  }
});

afterAll(async () => {
  await web.close();
  folder.remove();
});

const nameOf = (url: string) => url.slice(web.origin.length);

async function rowsOf(...args: string[]): Promise<ToldChange[]> {
  const { code, stdout, stderr } = await run('changes', '--format', 'json', ...args);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as ToldChange[];
}

const briefly = (rows: ToldChange[]) =>
  Object.fromEntries(rows.map(({ url, outcome, parts }) => [nameOf(url), [outcome, ...parts].join(' ')]));

describe('sumi changes', () => {
  it('lists what a run found, one row a page, and nothing that is noise', async () => {
    expect(briefly(await rowsOf('--run', '2'))).toEqual({
      '/': 'changed links',
      '/a': 'changed title links structured-data text',
      '/b': 'changed links',
      '/moved': 'changed status redirect',
      '/new': 'new',
      '/old': 'gone',
    });
  });

  it('says of a page what changed', async () => {
    const rows = await rowsOf('--run', '2');
    const row = rows.find(({ url }) => nameOf(url) === '/a')!;
    expect(row).toMatchObject({
      known_by: 'content',
      status_code: 200,
      run: 2,
      project: 'shop',
      links_added: [web.url('/new')],
      links_removed: [web.url('/old')],
      text: [
        ['=', 'Ink costs'],
        ['-', 'ten'],
        ['+', 'twelve'],
        ['=', 'coins and comes in black.'],
      ],
      words_added: 1,
      words_removed: 1,
    });
    expect(row.fields).toEqual([
      { name: 'title', before: 'Ink', after: 'New ink' },
      { name: 'structured-data', before: 'offers.price: 10', after: 'offers.price: 12' },
    ]);
    const moved = rows.find(({ url }) => nameOf(url) === '/moved')!;
    expect(moved.fields).toContainEqual({ name: 'redirect', before: null, after: web.url('/b') });
  });

  it('finds nothing in a run over an unchanged site, whose template is new every time', async () => {
    expect(await rowsOf('--run', '3')).toEqual([]);
    const all = await rowsOf('--run', '3', '--all');
    expect(new Set(all.map(({ outcome }) => outcome))).toEqual(new Set(['unchanged']));
    expect(all.find(({ url }) => nameOf(url) === '/b')).toMatchObject({
      known_by: 'text',
      parts: ['template'],
    });
  });

  it('tells of the last run unless told otherwise', async () => {
    expect(briefly(await rowsOf())).toEqual({ '/a': 'changed title structured-data text' });
    expect(await rowsOf()).toEqual(await rowsOf('--run', '4'));
  });

  it('tells of all runs after one, or of all visits since a time', async () => {
    expect((await rowsOf('--since', '2')).map(({ run }) => run)).toEqual([4]);
    expect(new Set((await rowsOf('--since', '1')).map(({ run }) => run))).toEqual(new Set([2, 4]));
    expect(await rowsOf('--since', '4')).toEqual([]);
    expect((await rowsOf('--since', '2000-01-01', '--steps')).length).toBeGreaterThan(
      (await rowsOf('--since', '1')).length,
    );
    expect(await rowsOf('--since', '2999-01-01')).toEqual([]);
    const { stdout } = await run('changes', '--since', '2000-01-01');
    expect(stdout).toMatch(/runs 1 to 4\n1 earlier; run 2 completed/);
  });

  it('tells the whole history of a page, in any spelling of its URL', async () => {
    const rows = await rowsOf(web.url('/a').replace('http://', ''));
    expect(rows.map(({ run, outcome }) => [run, outcome])).toEqual([
      [1, 'new'],
      [2, 'changed'],
      [3, 'unchanged'],
      [4, 'changed'],
    ]);
    expect(rows.every(({ url }) => url === web.url('/a'))).toBe(true);
    expect((await rowsOf(web.url('/a'), '--run', '2')).map(({ run }) => run)).toEqual([2]);
  });

  it('prints at most as many rows as asked for, in every format', async () => {
    expect(await rowsOf('--run', '2', '--limit', '2')).toHaveLength(2);
    const { stdout } = await run('changes', '--run', '2', '--limit', '2');
    expect(stdout.match(/^(changed|new|gone) /gm)).toHaveLength(2);
  });

  it('is readable without any format', async () => {
    const { code, stdout } = await run('changes', '--run', '2');
    expect(code).toBe(0);
    expect(stdout).toContain('Changes of shop, run 2');
    expect(stdout).toContain('4 changed, 1 new, 1 gone');
    expect(stdout).toContain('Ink costs [-ten-] {+twelve+} coins and comes in black.');
    expect(stdout).toMatch(/^ {2}title +Ink → New ink$/m);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are for terminals
    expect(stdout).not.toMatch(/\u001b/);
  });

  it('writes a page, Markdown, CSV and lines of JSON, by the ending of the file', async () => {
    const write = async (name: string) => {
      const { code, stdout } = await run('changes', '--run', '2', '--out', name);
      expect([code, stdout]).toEqual([0, `written to ${name}\n`]);
      return readFileSync(folder.file(name), 'utf8');
    };
    const html = await write('changes.html');
    expect(html).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    expect(html).toContain('Fresh &amp; &lt;new&gt;');
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(await write('changes.md')).toMatch(
      /^# Changes of shop, run 2\n[\s\S]*```diff\n {2}- title: Ink\n/,
    );
    expect((await write('changes.csv')).split('\n')[0]).toMatch(/^url,outcome,known_by,parts,/);
    // Such names promise nothing.
    for (const name of ['changes', 'changes.2026'])
      expect(await write(name)).toMatch(/^Changes of shop, run 2\n/);
    const lines = (await write('changes.jsonl')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(await rowsOf('--run', '2'));
  });

  it.each([
    [['changes', '--run', '99'], 2, 'There is no run 99'],
    [['changes', '--since', '99'], 2, 'There is no run 99'],
    [['changes', '--since', 'monday'], 2, '--since cannot be monday'],
    [['changes', '--run', '1', '--since', '1'], 2, '--run and --since are both given'],
    [['changes', '--run', 'x'], 2, '"x" is not the number of a run'],
    [['changes', '--project', 'other'], 2, 'other'],
    [['changes', '--format', 'xml'], 2, 'xml'],
    [
      ['changes', '--out', 'changes.docx'],
      2,
      '--out cannot be changes.docx; expected a file that ends in .txt',
    ],
    [['changes', '/b'], 2, 'The URL "/b" has no host name'],
    [['why', '/b'], 2, 'The URL "/b" has no host name'],
    [['changes', 'http://nowhere.example/'], 1, 'is not known'],
    [['compare', '1', '99'], 2, 'There is no run 99'],
    [['compare', '2', '2'], 2, 'run 2 is given twice'],
    [['compare', '1'], 2, "missing required argument 'run'"],
    [['pages', '--changing-more-than', 'often'], 2, '--changing-more-than cannot be often'],
    [['pages', '--not-crawled-for', '7'], 2, '--not-crawled-for cannot be 7'],
    [['pages', '--change', 'better'], 2, '--change cannot be better'],
    [['forget'], 2, '--older-than'],
    [['forget', '--older-than', '90'], 2, '--older-than cannot be 90'],
    [['forget', '--older-than', '90d'], 2, 'give --yes'],
    [['forget', '--older-than', '90d', '--yes', '--project', 'other'], 2, 'other'],
    [['forget', '--older-than', '90d', '--yes', '--db', 'none.db'], 2, 'There is no database none.db'],
  ])('refuses %j', async (args, code, words) => {
    const { code: found, stderr, stdout } = await run(...args);
    expect(stderr).toContain(words);
    expect([found, stdout]).toEqual([code, '']);
  });
});

describe('sumi compare', () => {
  const compare = async (...runs: string[]) => {
    const { code, stdout } = await run('compare', ...runs, '--format', 'json');
    expect(code).toBe(0);
    const { pages, ...counts } = JSON.parse(stdout);
    return { counts, pages: briefly(pages as ToldChange[]) };
  };

  it('tells what became of the pages between two runs, in any order', async () => {
    const found = await compare('1', '2');
    expect(found).toEqual({
      counts: {
        project: 'shop',
        runs: [1, 2],
        added: 1,
        removed: 1,
        changed: 4,
        failed: 0,
        unchanged: 0,
        unvisited: 0,
      },
      pages: {
        '/': 'changed links',
        '/a': 'changed title links structured-data text',
        '/b': 'changed links',
        '/moved': 'changed status redirect',
        '/new': 'added',
        '/old': 'removed',
      },
    });
    expect(await compare('2', '1')).toEqual(found);
  });

  it('counts what did not change, and leaves out what was changed back', async () => {
    expect((await compare('2', '3')).counts).toMatchObject({
      added: 0,
      removed: 0,
      changed: 0,
      unchanged: 5,
    });
    const { pages } = await compare('1', '4');
    expect(pages['/a']).toBe('changed links');
  });

  it('is readable without any format', async () => {
    const { stdout } = await run('compare', '1', '2');
    expect(stdout).toContain('1 added, 1 removed, 4 changed, 0 failed, 0 unchanged, 0 unvisited');
    expect(stdout).toMatch(new RegExp(`^added +${web.url('/new')}`, 'm'));
  });
});

describe('sumi pages', () => {
  const pages = async (...args: string[]) => {
    const { code, stdout } = await run('pages', '--format', 'json', ...args);
    expect(code).toBe(0);
    return (JSON.parse(stdout) as { url: string }[])
      .map(({ url }) => nameOf(url))
      .filter((path) => !path.includes('?'));
  };

  it('lists pages by how often they change, when they were visited, and what the last visit found', async () => {
    expect((await pages('--changing-more-than', '1/day')).sort()).toEqual(['/', '/a', '/b', '/moved']);
    expect(await pages('--changing-more-than', '100000000/day')).toEqual([]);
    expect(await pages('--change', 'changed')).toEqual(['/a']);
    expect((await pages('--change', 'gone,unchanged')).sort()).toEqual(['/', '/b', '/moved', '/new', '/old']);
    expect(await pages('--not-crawled-for', '7d')).toEqual([]);
    expect(await pages('--not-crawled-for', '0m')).toContain('/old');
  });

  it('shows people what a list is sorted by', async () => {
    const head = async (...args: string[]) => (await run('pages', ...args)).stdout.split('\n', 1)[0];
    expect(await head('--changing-more-than', '1/day')).toMatch(/^state +status +changes +a day +url/);
    expect(await head('--not-crawled-for', '0m')).toMatch(/^state +status +last visit +url/);
    expect(await head()).toMatch(/^state +status +depth +words +url/);
  });

  it.each([
    ['--changing-more-than', '0', 'change_frequency', -1],
    ['--not-crawled-for', '0m', 'visited_at', 1],
  ])('sorts by what %s asks for, in every format', async (flag, value, column, sign) => {
    const asked = ['pages', flag, value, '--format'];
    const rows: Record<string, string | number>[] = JSON.parse((await run(...asked, 'json')).stdout);
    expect(rows.length).toBeGreaterThan(3);
    const keys = rows.map((row) => row[column]);
    expect(keys).toEqual(keys.toSorted((a, b) => sign * (a < b ? -1 : a > b ? 1 : 0)));
    const urls = rows.map(({ url }) => String(url));
    for (const format of ['table', 'jsonl', 'csv']) {
      const { stdout } = await run(...asked, format);
      // The first address of a line is the page's own.
      const listed = stdout
        .split('\n')
        .map((line) => line.split(/[\s,"]+/).find((word) => urls.includes(word)));
      expect(listed.filter((url) => url !== undefined)).toEqual(urls);
    }
  });

  it.each([
    ['pages', '--changing-more-than', 'often'],
    ['pages', '--not-crawled-for', '7'],
    ['pages', '--state', 'Lost'],
    ['pages', '--status', 'ok'],
    ['pages', '--limit', 'few'],
    ['forget', '--older-than', '90'],
    ['changes', '--since', 'monday'],
  ])('%s %s says where it is documented, which is so', async (command, flag, value) => {
    const { code, stderr } = await run(command, flag, value);
    expect(code).toBe(2);
    expect(stderr).toContain(`${flag} cannot be ${value}; expected `);
    const [, help] = /Run `sumi (.*)` for the meaning/.exec(stderr)!;
    expect((await run(...help.split(' '))).stdout).toMatch(new RegExp(`^ {2}${flag} `, 'm'));
  });
});

describe('history that is cleared', () => {
  it('is told in numbers, leaves the pages as they are, and makes the next run no other', async () => {
    const before = (await run('pages', '--format', 'json')).stdout;
    const young = await run('forget', '--older-than', '1d', '--yes');
    expect(young.stdout).toMatch(/^0 visits, 0 changes and 0 requests of all projects from before /);
    const visits = (await rowsOf('--since', '2000-01-01', '--all', '--steps')).length;
    const changes = (await rowsOf('--since', '2000-01-01', '--steps')).filter(
      ({ outcome }) => outcome === 'changed',
    ).length;
    const asked = JSON.parse((await run('audit', '--json')).stdout).requests;
    expect(asked).toBeGreaterThan(visits);
    const { stdout } = await run(
      'forget',
      '--older-than',
      '0m',
      '--yes',
      '--project',
      'shop',
      '--format',
      'json',
    );
    expect(JSON.parse(stdout)).toMatchObject({ project: 'shop', visits, changes, requests: asked });
    // Nothing is left that tells when a page was asked for, but for the last time.
    const why = await run('why', `${web.origin}/a`);
    expect(why.stdout).toMatch(/requests {4}none in the request log; the last was at \S+\n/);
    expect(why.stdout).not.toContain('history');
    const audit = JSON.parse((await run('audit', '--json')).stdout);
    expect(audit).toMatchObject({ requests: 0, violations: 0, cleared_until: JSON.parse(stdout).before });
    expect((await run('audit', '1')).stdout).toContain('was cleared');
    const report = await run('report', '--run', '1');
    expect(report.stdout).toContain(`The request log before ${audit.cleared_until} was cleared`);
    expect((await run('pages', '--format', 'json')).stdout).toBe(before);
    expect(await rowsOf('--since', '2000-01-01', '--all')).toEqual([]);
    expect((await run('changes')).stdout).toContain('No visits are kept');

    version = 2;
    const crawl = [
      'crawl',
      `${web.origin}/`,
      '--project',
      'shop',
      '--delay',
      '0.01',
      '-q',
      '--mode',
      'incremental',
    ];
    expect((await run(...crawl)).code).toBe(0);
    expect(briefly(await rowsOf())).toEqual({ '/a': 'changed title structured-data text' });
    // Of a run that began later nothing is missing.
    const latest = JSON.parse((await run('runs', '--format', 'json')).stdout).at(-1).run;
    const judged = JSON.parse((await run('audit', String(latest), '--json')).stdout);
    expect(judged).toMatchObject({ violations: 0, cleared_until: null });
    expect(judged.requests).toBeGreaterThan(0);
  });

  it('is cleared at the end of a run with --keep-history, after it was counted', async () => {
    const crawl = [
      'crawl',
      `${web.origin}/`,
      '--project',
      'shop',
      '--delay',
      '0.01',
      '--keep-history',
      '0',
      '--json',
    ];
    const { stdout } = await run(...crawl);
    const summary = JSON.parse(stdout.trim().split('\n').at(-1)!);
    // A full run asks for what is gone, too, and hears the same again.
    expect(summary).toMatchObject({ type: 'summary', unchanged: 6 });
    expect(await rowsOf('--since', '2000-01-01', '--all')).toEqual([]);
    expect(JSON.parse((await run('audit', '--json')).stdout)).toMatchObject({ requests: 0, violations: 0 });
  });
});

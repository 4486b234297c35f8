import { copyFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToldChange } from '../../src/change/told-change.ts';
import { makeFolder, sumi } from '../cli/run-sumi.ts';
import { answer, type FakeWeb, type FixedAnswer, startFakeWeb } from '../web/fake-web.ts';

const folder = makeFolder();
let web: FakeWeb;
/** The number of the run that crawls. */
let now = 1;

const run = (...args: string[]) => sumi(args, { cwd: folder.path });
const LONG = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');
const page = (title: string, main: string, links: string[] = []): FixedAnswer => ({
  body: `<title>${title}</title><main>${main} ${links.map((path) => `<a href="${path}">x</a>`).join(' ')}</main>`,
});

/** What a run gets: after the third everything is as in the first, in the fourth nothing is to be had. */
const SITE: Record<string, (run: number) => FixedAnswer> = {
  '/': () => page('Home', 'Home', ['/back', '/away', '/short', '/long', '/same', '/late']),
  '/back': (n) => (n === 2 ? page('B', 'Two', ['/short']) : page('A', 'One', ['/same'])),
  '/away': (n) => (n === 2 ? { status: 404 } : page('Away', 'Here')),
  '/short': (n) => page('Short', `Version ${n} is out.`),
  '/long': (n) => page('Long', `${LONG} number${n} ${LONG}`),
  '/same': () => page('Same', 'Same'),
  '/late': (n) => (n < 3 ? { status: 404 } : page('Late', 'Late')),
};

beforeAll(async () => {
  const pages = Object.fromEntries(
    Object.entries(SITE).map(([path, of]) => [
      path,
      (exchange: Parameters<typeof answer>[0]) => {
        exchange.response.sendDate = false;
        answer(exchange, now === 4 ? { status: 503 } : of(now));
      },
    ]),
  );
  web = await startFakeWeb({ pages });
  for (now = 1; now <= 5; now++) {
    const limit = now === 5 ? ['--max-pages', '1'] : [];
    const flags = ['--delay', '0.01', '--retries', '0', '-q', ...limit];
    const crawl = await run('crawl', `${web.origin}/`, '--project', 'p', '--mode', 'full', ...flags);
    // Of the fourth it is told that nothing was read.
    expect(crawl.stderr).toContain(now === 4 ? 'code: start-refused' : '');
    expect(crawl.code).toBe(now === 4 ? 1 : 0);
  }
});

afterAll(async () => {
  await web.close();
  folder.remove();
});

async function compare(one: number, other: number) {
  const { code, stdout } = await run('compare', `${one}`, `${other}`, '--format', 'json');
  expect(code).toBe(0);
  const { pages, ...counts } = JSON.parse(stdout);
  const byPath = Object.fromEntries(
    (pages as ToldChange[]).map((row) => [row.url.slice(web.origin.length), row]),
  );
  return { counts, pages: byPath };
}

describe('sumi compare over several steps', () => {
  it('calls unchanged what is as it was, and tells the rest by both ends', async () => {
    const { counts, pages } = await compare(1, 3);
    expect(counts).toMatchObject({ added: 1, removed: 0, changed: 2, failed: 0, unchanged: 4, unvisited: 0 });
    expect(Object.keys(pages).sort()).toEqual(['/late', '/long', '/short']);
    expect(pages['/short']).toMatchObject({
      outcome: 'changed',
      parts: ['text'],
      text: [
        ['=', 'Version'],
        ['-', '1'],
        ['+', '3'],
        ['=', 'is out.'],
      ],
      words_added: 1,
      words_removed: 1,
      text_steps: [],
    });
  });

  it('tells words step by step where both texts are not known whole, in every format', async () => {
    const { pages } = await compare(1, 3);
    expect(pages['/long']).toMatchObject({ text: null, words_added: null, words_removed: null });
    expect(pages['/long'].text_steps?.map(({ run, words_added }) => [run, words_added])).toEqual([
      [2, 1],
      [3, 1],
    ]);
    const { stdout: text } = await run('compare', '1', '3');
    expect(text).toMatch(
      /^ {2}text {13}run 2: \+1 -1 words\n.*\[-number1-\] \{\+number2\+\}[\s\S]*run 3: \+1 -1 words\n.*\[-number2-\] \{\+number3\+\}/m,
    );
    const { stdout: markdown } = await run('compare', '1', '3', '--format', 'markdown');
    expect(markdown).toMatch(/@@ run 2: \+1 -1 words @@\n[\s\S]*- number1\n {2}\+ number2\n[\s\S]*@@ run 3/);
    const { stdout: html } = await run('compare', '1', '3', '--format', 'html');
    expect(html).toContain('<p class="said">run 3: +1 -1 words</p>\n<p class="diff" dir="auto">');
    const { stdout: csv } = await run('compare', '1', '3', '--format', 'csv');
    expect(csv.split('\n')[0]).toMatch(/,text_steps$/);
  });

  it('tells a page that came back in between as it is', async () => {
    expect((await compare(1, 2)).pages['/away']).toMatchObject({ outcome: 'removed', status_code: 404 });
    expect((await compare(2, 3)).pages['/away']).toMatchObject({ outcome: 'added', status_code: 200 });
  });
});

describe('sumi compare with a run that could not read', () => {
  it('calls failed what failed, with its status, and not unchanged', async () => {
    const { counts, pages } = await compare(3, 4);
    expect(counts).toMatchObject({ added: 0, removed: 0, changed: 0, failed: 7, unchanged: 0, unvisited: 0 });
    expect(pages['/same']).toMatchObject({ outcome: 'failed', status_code: 503, run: 4 });
    const { stdout } = await run('compare', '3', '4');
    expect(stdout).toContain('0 changed, 7 failed, 0 unchanged, 0 unvisited');
    expect(stdout).toMatch(/^failed +\S+\/same {2}HTTP 503$/m);
    expect(stdout).not.toContain('Nothing differs');
  });

  it('is told by sumi changes in the same way', async () => {
    const { stdout } = await run('changes', '--run', '4', '--all');
    expect(stdout).toContain('0 changed, 0 new, 0 gone, 0 unchanged, 7 failed');
    expect(stdout).toMatch(/^failed +\S+\/same {2}HTTP 503$/m);
    const { stdout: brief } = await run('changes', '--run', '4');
    expect(brief).toContain('7 failed');
    expect(brief).toContain('Nothing changed, as far as pages could be read.');
  });

  it('counts apart what was not visited since', async () => {
    const { counts } = await compare(4, 5);
    expect(counts).toMatchObject({ changed: 0, failed: 0, unchanged: 1, unvisited: 6 });
    expect((await run('compare', '4', '5')).stdout).toContain(
      'Nothing differs in what was visited after run 4.',
    );
  });
});

describe('a run in which nobody answered', () => {
  it('is told as that: nothing was cleared', async () => {
    const own = await startFakeWeb({ pages: {} });
    await own.close();
    const flags = ['--db', 'down.db', '--delay', '0.01', '--robots-retries', '0', '-q'];
    expect((await run('crawl', `${own.origin}/`, ...flags)).code).toBe(1);
    const { stdout } = await run('changes', '--db', 'down.db');
    expect(stdout).toContain('No page was read: no start URL gave any HTTP answer (robots: unreachable');
    expect(stdout).not.toContain('cleared');
  });
});

it('says that the history of the first run was cleared', async () => {
  const copy = `${folder.path}/cleared.db`;
  copyFileSync(`${folder.path}/sumi.db`, copy);
  const kept = await run('compare', '1', '3', '--db', copy);
  expect(kept.stderr).toBe('');
  expect((await run('forget', '--older-than', '0d', '--yes', '--db', copy)).code).toBe(0);
  const { code, stderr, stdout } = await run('compare', '1', '3', '--db', copy);
  expect(code).toBe(0);
  expect(stdout).toContain('No visits are kept: their history was cleared.');
  expect(stdout).not.toContain('Nothing differs');
  expect(stderr).toMatch(/^The history of run 1 was cleared \(sumi forget, --keep-history\)/);
});

/** `sumi watch` and what `sumi why` says of revisits, run from outside. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Sqlite from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { COMMAND, makeFolder, startSumi, sumi } from '../cli/run-sumi.ts';
import { page } from '../crawls/crawl-site.ts';
import { answer, type Exchange, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function setUp() {
  const folder = makeFolder();
  closing.push(() => folder.remove());
  let version = 0;
  const web: FakeWeb = await startFakeWeb({
    pages: {
      '/': page('home', '/a', '/b'),
      '/a': (exchange: Exchange) => answer(exchange, { body: page(`A in version ${version}`) }),
      '/b': page('B'),
      '/sitemap.xml': (exchange: Exchange) =>
        answer(exchange, {
          headers: { 'content-type': 'application/xml' },
          body: `<urlset><url><loc>${exchange.url('/b')}</loc></url></urlset>`,
        }),
    },
  });
  closing.push(() => web.close());
  const db = folder.file('sumi.db');
  return {
    ...{ folder, web, db },
    change: () => {
      version++;
    },
    run: (...args: string[]) => sumi([...args, '--db', db]),
    crawl: () => sumi(['crawl', web.url('/'), '--db', db, '--delay', '0', '--quiet', '--discover', 'links']),
  };
}

/** As if everything so far had happened two days ago. */
function age(path: string): void {
  const db = new Sqlite(path);
  const back = 2 * 86_400_000;
  db.exec(`UPDATE visit SET visited_at = visited_at - ${back}; UPDATE fetched SET visited_at = visited_at - ${back};
    UPDATE run SET started_at = started_at - ${back}, finished_at = finished_at - ${back};`);
  db.close();
}

const lines = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('sumi watch', () => {
  it('--once crawls what is unknown, and then only ticks', async () => {
    const { web, run } = await setUp();
    const first = await run('watch', web.url('/'), '--once', '--json', '--delay', '0', '--discover', 'links');
    expect(first.stderr).toContain('completed, 3 pages');
    expect(first.code).toBe(0);
    expect(lines(first.stdout)).toMatchObject([{ type: 'tick', skipped: 'nothing due' }]);
    const before = web.log.length;
    const second = await run('watch', '--once', '--json');
    expect(second.code).toBe(0);
    expect(lines(second.stdout).length).toBe(1);
    expect(web.log.length).toBe(before);
  });

  it('--once says of a tick that nobody answered what was asked for', async () => {
    const { web, run, crawl } = await setUp();
    await crawl();
    // The last that was opened is the web.
    await closing.pop()!();
    const { code, stderr } = await run('watch', '--once', '--breaker-failures', '1', '--breaker-probes', '0');
    expect(stderr).toContain(`No page that was due gave an HTTP answer; the first, ${web.url('/')}`);
    expect(code).toBe(1);
  });

  it('crawls a site of which only the sitemap was listed, and visits one again that was crawled before that', async () => {
    const { web, run } = await setUp();
    const list = () => run('sitemap', web.url('/'), '--fresh', '--delay', '0');
    expect((await list()).code).toBe(0);
    const watch = ['--once', '--json', '--delay', '0', '--discover', 'sitemap,links'];
    const first = await run('watch', web.url('/'), ...watch);
    expect(first.stderr).toContain('completed, 3 pages');
    expect(lines(first.stdout)).toMatchObject([{ type: 'tick', skipped: 'nothing due' }]);
    expect((await list()).code).toBe(0);
    expect(lines((await run('watch', ...watch)).stdout)).toMatchObject([{ type: 'tick', run: null }]);
  });

  it('--once spends its budget on the first crawl, says so, and goes on with it', async () => {
    const { web, db, run } = await setUp();
    const flags = ['--once', '--budget', '10/day', '--host-budget', '2/day'];
    const first = await run('watch', web.url('/'), ...flags, '--delay', '0', '--discover', 'links');
    expect(first.code).toBe(0);
    expect(first.stderr).toContain('interrupted, 2 pages; it continues as the budget and the hours allow');
    const before = web.log.length;
    expect((await run('watch', ...flags)).stderr).toContain('the budget allows no visit yet');
    expect(web.log.length).toBe(before);
    const store = new Sqlite(db);
    const kept = store.prepare('SELECT revisit_plan AS plan FROM project').pluck().get() as string;
    const state = JSON.parse(kept);
    // When its tick began, and when it ended.
    for (const host of Object.values(state.budget.hosts as Record<string, number[]>))
      for (const time of [1, 2]) host[time] -= 2 * 86_400_000;
    store.prepare('UPDATE project SET revisit_plan = ?').run(JSON.stringify(state));
    store.close();
    expect((await run('watch', ...flags)).stderr).toContain('completed, 3 pages');
    expect(web.log.length).toBe(before + 1);
  });

  it('visits what is due with the options of the project, and tells a program of the change', async () => {
    const { db, folder, run, crawl, change, web } = await setUp();
    await crawl();
    age(db);
    change();
    const seen = folder.file('seen.txt');
    const command = `"${process.execPath}" -e "require('fs').appendFileSync('${seen}', process.env.SUMI_EVENT_URL)"`;
    const { code, stdout, stderr } = await run('watch', '--once', '--json', '--on-change', command);
    expect(stderr).not.toContain('not delivered');
    expect(code).toBe(0);
    expect(lines(stdout)).toMatchObject([
      { type: 'change', outcome: 'changed', url: web.url('/a'), parts: ['title', 'h1', 'text'] },
      { type: 'tick', changed: 1, unchanged: 2, due: 3 },
    ]);
    expect(readFileSync(seen, 'utf8')).toBe(web.url('/a'));
    const { stdout: runs } = await run('runs', '--format', 'json');
    expect(JSON.parse(runs).at(-1)).toMatchObject({ metadata: { watch: 'tick' } });
  });

  it('--once leaves after drain-seconds though nobody receives, says what was not delivered, and delivers it the next time', async () => {
    const { db, web, run, crawl, change } = await setUp();
    await crawl();
    age(db);
    change();
    const received: { url: string; id: unknown }[] = [];
    const receiver = { isAway: true };
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (piece) => {
        body += piece;
      });
      request.on('end', () => {
        if (receiver.isAway) return;
        received.push({ url: JSON.parse(body).url, id: request.headers['sumi-delivery'] });
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path`;
    const flags = ['--webhook', hook, '--webhook-allow', '127.0.0.1'];
    const { code, stderr } = await run('watch', '--once', ...flags, '--drain-seconds', '0');
    expect(code).toBe(0);
    expect(web.log.length).toBeGreaterThan(3);
    expect(stderr).toMatch(/not delivered to webhook 127\.0\.0\.1.*tried again at the next tick/);
    const kept = new Sqlite(db);
    expect(JSON.stringify(kept.prepare('SELECT revisit_plan FROM project').all())).not.toContain(
      'secret-path',
    );
    kept.close();
    receiver.isAway = false;
    expect((await run('watch', '--once', ...flags)).code).toBe(0);
    expect(received).toEqual([{ url: web.url('/a'), id: expect.stringMatching(/^2-\d+$/) }]);
    await run('watch', '--once', ...flags);
    expect(received.length).toBe(1);
  });

  it.each([
    ['as JSON', true],
    ['as text', false],
  ])('ends with 2 when what it tells cannot be written, %s', async (_, isJson) => {
    const { db, crawl, change } = await setUp();
    await crawl();
    age(db);
    change();
    const full = '/dev/full';
    if (!existsSync(full)) return console.warn(`not run: there is no ${full} here`);
    const args = ['watch', '--db', db, ...(isJson ? ['--json'] : [])];
    const shell = spawn('bash', ['-c', `"$@" > ${full}`, 'bash', process.execPath, COMMAND, ...args]);
    let stderr = '';
    shell.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const code = await new Promise((resolve) => shell.once('close', resolve));
    expect(stderr).toContain('standard output cannot be written: ENOSPC');
    expect(code).toBe(2);
  });

  it('refuses a webhook that could never be delivered, before anything is asked, without its path', async () => {
    const { web, run } = await setUp();
    for (const address of ['http://hooks.example.com/secret', 'https://10.0.0.7/secret']) {
      const { code, stderr } = await run('watch', web.url('/'), '--once', '--webhook', address);
      expect(code).toBe(2);
      expect(stderr).toContain(`--webhook-allow ${new URL(address).hostname}`);
      expect(stderr).not.toContain('secret');
    }
    expect(web.log.length).toBe(0);
  });

  it('warns of a feed that is not read because sitemaps are not', async () => {
    const { web, run } = await setUp();
    const flags = ['--once', '--delay', '0', '--feed', web.url('/feed')];
    const { code, stderr } = await run('watch', web.url('/'), ...flags, '--discover', 'links');
    expect(code).toBe(0);
    expect(stderr).toContain(`warning: the feed ${web.url('/feed')} is not read, for --discover is links`);
    expect(web.requestsTo('/feed').length).toBe(0);
    const other = await run('watch', ...flags, '--discover', 'sitemap,links');
    expect(other.stderr).not.toContain('warning');
  });

  it('is refused beside another one, until that ends or is killed', async () => {
    const { db, run, crawl } = await setUp();
    await crawl();
    const stays = startSumi(['watch', '--db', db, '--every', '1h']);
    await stays.said('next tick');
    const second = await run('watch', '--once');
    expect(second.code).toBe(2);
    expect(second.stderr).toContain('is already being watched');
    stays.child.kill('SIGINT');
    expect((await stays.finished).code).toBe(0);
    expect((await run('watch', '--once')).code).toBe(0);
    const killed = startSumi(['watch', '--db', db, '--every', '1h']);
    await killed.said('next tick');
    killed.child.kill('SIGKILL');
    await killed.finished;
    expect((await run('watch', '--once')).code).toBe(0);
  });

  it.each([
    [['--budget', 'many'], 'a number of visits'],
    [['--budget', '0/day'], 'a number of visits'],
    [['--host-budget', '5/year'], 'a number of visits'],
    [['--hours', '5-5'], 'two hours of the day'],
    [['--every', '0'], '--every'],
    [['--webhook', 'ftp://example.com/'], 'an https address'],
    [
      ['--webhook', 'http://hooks.example.com/secret', 'http://127.0.0.1:1/'],
      'webhook cannot be http://hooks.example.com (flag --webhook); expected https to a public address, or --webhook-allow hooks.example.com (http:// is not allowed',
    ],
    [['--webhook', 'https://10.0.0.7/', 'http://127.0.0.1:1/'], '10.0.0.7 is no public address'],
    [['--webhook-secret-file', '/no/such/file', 'http://127.0.0.1:1/'], 'a file that this user may read'],
    [['--on-change', "say 'open"], 'a command with its arguments, every quote closed'],
    [['--revisit', 'often'], 'value, score or bands'],
  ])('refuses %j', async (args, said) => {
    const { run } = await setUp();
    const { code, stderr } = await run('watch', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  });

  it('says of the project of the store what it watches by, and where a value is wrong', async () => {
    const { run, crawl } = await setUp();
    await crawl();
    const { stderr: begun } = await run('watch', '--once', '--budget', '500');
    expect(begun).toContain(': 500/day, by value');
    const { code, stderr } = await run('watch', '--once', '--webhook-secret-file', '/no/such/file');
    expect(code).toBe(2);
    expect(stderr).toContain('(flag --webhook-secret-file)');
  });

  it('without a URL needs a project, and one only', async () => {
    const { run, crawl, web, db } = await setUp();
    expect((await run('watch', '--once')).code).not.toBe(0);
    await crawl();
    await sumi(['crawl', web.url('/b'), '--db', db, '--project', 'other', '--quiet', '--discover', 'links']);
    const { code, stderr } = await run('watch', '--once');
    expect(code).toBe(2);
    expect(stderr).toContain('code: several-projects');
    expect((await run('watch', '--once', '--project', 'other')).code).toBe(0);
  });
});

describe('sumi why', () => {
  it('tells start URLs from pages that a sitemap named', async () => {
    const { run } = await setUp();
    const web = await startFakeWeb({
      pages: {
        '/': page('home'),
        '/island': page('island'),
        '/sitemap.txt': (exchange: Exchange) =>
          answer(exchange, { headers: { 'content-type': 'text/plain' }, body: exchange.url('/island') }),
      },
    });
    closing.push(() => web.close());
    const flags = ['--discover', 'sitemap,links', '--sitemap-paths', '/sitemap.txt'];
    await run('crawl', web.url('/'), '--delay', '0', '--quiet', ...flags);
    expect((await run('why', web.url('/island'))).stdout).toMatch(/way here +named by a sitemap or feed/);
    expect((await run('why', web.url('/'))).stdout).toMatch(/way here +a start URL/);
  });

  it('tells when a page is visited again, and by what each visit was known', async () => {
    const { db, run, crawl, change, web } = await setUp();
    await crawl();
    age(db);
    change();
    await run('watch', '--once');
    const { stdout } = await run('why', web.url('/a'));
    expect(stdout).toContain('new, known by content');
    expect(stdout).toContain('changed, known by content');
    expect(stdout).toMatch(/1 change seen, [\d.]+ a day on average\n +expected: about [\d.]+ changes a day/);
    expect(stdout).toMatch(/every [\d.]+ (?:days|hours|minutes) at this rate/);
    expect(stdout).toMatch(/next at \d{4}-/);
    expect(stdout).toContain('changed since the last visit with a chance of 0.0 %');
    const { stdout: json } = await run('why', web.url('/b'), '--format', 'json');
    expect(JSON.parse(json)).toMatchObject({
      visits: [{ outcome: 'new' }, { outcome: 'unchanged', known_by: 'hash' }],
      revisit: { rule: 'value', is_watched: true, score: null, band: null },
    });
    expect((await run('why', web.url('/b'), '--revisit', 'bands')).stdout).toContain('band: static');
  });

  it.each(['value', 'score', 'bands'])(
    'tells rate, interval, next visit and chance by %s, watched or not',
    async (rule) => {
      const { db, run, crawl, web } = await setUp();
      await crawl();
      age(db);
      const ask = async (...flags: string[]) => {
        const { stdout } = await run('why', web.url('/b'), '--revisit', rule, '--format', 'json', ...flags);
        return JSON.parse(stdout).revisit;
      };
      const whole = {
        rule,
        rate_per_day: expect.any(Number),
        interval_days: expect.any(Number),
        next_visit: expect.stringMatching(/^20/),
        chance_changed: expect.any(Number),
      };
      expect(await ask()).toMatchObject({ ...whole, is_watched: false });
      const { stdout } = await run('why', web.url('/b'), '--revisit', rule, '--budget', '2/day');
      expect(stdout).toContain(`by ${rule}; not watched yet: as sumi watch would plan it`);
      expect(stdout).toMatch(/every [\d.]+ (?:days|hours|minutes) at this rate/);
      expect(stdout).toMatch(/(?:next at|due since) 20/);
      // Two days ago; a page that never changed has a band of 30 days.
      const { stdout: soon } = await run('why', web.url('/b'), '--revisit', rule);
      expect(soon).toMatch(rule === 'bands' ? /next at 20/ : /due since 20/);
      if (rule === 'score')
        expect(stdout).toMatch(
          /priority [\d.]+ \([\d.]+ for its changes, [\d.]+ for the days since the last visit, [\d.]+ for/,
        );
      // By the rule that it is watched by, and by the others, whose price the watch does not know.
      await run('watch', '--once', '--budget', '2/day');
      expect(await ask('--budget', '2/day')).toMatchObject({ ...whole, is_watched: true });
      await run('watch', '--once', '--revisit', rule, '--budget', '2/day');
      expect(await ask()).toMatchObject({ ...whole, is_watched: true, visits_per_day: null });
    },
  );

  it('does not take a page whose history was cleared for one never visited', async () => {
    const { db, run, crawl, web } = await setUp();
    await crawl();
    age(db);
    await run('forget', '--older-than', '1d', '--yes');
    const { stdout } = await run('why', web.url('/b'), '--revisit', 'bands', '--format', 'json');
    const { revisit, visited_at } = JSON.parse(stdout);
    expect(Date.parse(revisit.next_visit) - Date.parse(visited_at)).toBe(30 * 86_400_000);
  });

  it('shows the last visits of very many, and why one that failed is left alone', async () => {
    const { db: path, run, crawl, web } = await setUp();
    await crawl();
    const db = new Sqlite(path);
    db.exec(`CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) SELECT i FROM n;
      CREATE TEMP TABLE b AS SELECT id FROM url WHERE url LIKE '%/b';
      INSERT INTO visit (run_id, page_id, visited_at, outcome, known_by)
        SELECT v.run_id, v.page_id, v.visited_at + i, CASE i WHEN 1200 THEN 4 ELSE 2 END, 3 FROM visit v, b, n WHERE v.page_id = b.id;
      INSERT INTO request (run_id, host_id, page_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host, status_code, wire_bytes)
        SELECT run_id, host_id, page_id, kind, slot_at, sent_at + i, ended_at + i, 0, 1, 200, 9 FROM request, b, n WHERE page_id = b.id`);
    db.close();
    const { stdout } = await run('why', web.url('/b'));
    expect(stdout.match(/ {2}GET 200 /g)).toHaveLength(20);
    expect(stdout.match(/, known by /g)).toHaveLength(20);
    expect(stdout.match(/1,181 earlier/g)).toHaveLength(2);
    expect(stdout).toMatch(/next at 20\S+, for the last visit failed/);
    const { stdout: json } = await run('why', web.url('/b'), '--format', 'json');
    expect(JSON.parse(json)).toMatchObject({ requests_total: 1201, visits_total: 1201 });
  });

  it('says so where nobody has watched yet', async () => {
    const { run, crawl, web } = await setUp();
    await crawl();
    const { stdout } = await run('why', web.url('/a'));
    expect(stdout).toContain('not watched yet');
  });
});

// A real nginx that limits rates, crawled with the default options: how many pages are read, how many requests refused.
// One page takes two seconds at these rates, so the scenario takes some minutes whatever the machine.
import { join } from 'node:path';
import { startNginx } from '../test/servers/start-nginx.ts';
import { inTemporaryFolder, measureSumi } from './run-sumi.ts';
import { atLeast, atMost, type Row, type Scenario, shown } from './scenario.ts';

const BY_RATE = 'limit_req_zone $binary_remote_addr zone=r:1m rate=30r/m;';
const BY_CONNECTIONS = 'limit_conn_zone $binary_remote_addr zone=c:1m;';

const CASES = [
  {
    name: 'rate=30r/m burst=2',
    pages: 60,
    http: BY_RATE,
    location: 'limit_req zone=r burst=2;',
    refused: 10,
  },
  {
    name: 'rate=30r/m burst=2 nodelay',
    pages: 60,
    http: BY_RATE,
    location: 'limit_req zone=r burst=2 nodelay;',
    refused: 10,
  },
  // Pages of two seconds.
  {
    name: 'limit_conn 2',
    pages: 40,
    http: BY_CONNECTIONS,
    location: 'limit_conn c 2; limit_rate 5k;',
    refused: 20,
  },
];

function site(pages: number): Record<string, string> {
  const names = Array.from({ length: pages - 1 }, (_, n) => `p${n}.html`);
  const text = '<p>some words of a page '.repeat(430);
  const files = Object.fromEntries(names.map((name) => [name, `<title>${name}</title>${text}`]));
  const links = names.map((name) => `<a href="/${name}">${name}</a>`).join(' ');
  return { ...files, 'index.html': `<title>home</title>${links}${text}` };
}

async function crawlLimited({
  name,
  pages,
  http,
  location,
  refused,
}: (typeof CASES)[number]): Promise<Row[]> {
  const nginx = await startNginx({ files: site(pages), http, location });
  try {
    return await inTemporaryFolder(async (folder) => {
      const db = join(folder, 'sumi.db');
      const { wallMs } = await measureSumi([
        'crawl',
        nginx.origin,
        '--db',
        db,
        '--discover',
        'sitemap,links',
        '-q',
      ]);
      const log = nginx.log();
      const read = log.filter(({ status, path }) => status === 200 && /^\/(p\d+\.html)?$/.test(path));
      return [
        atLeast(`${name}: pages read`, new Set(read.map(({ path }) => path)).size, pages),
        atMost(`${name}: requests refused`, log.filter(({ status }) => status === 503).length, refused),
        shown(`${name}: wall`, wallMs / 1000, 's'),
      ];
    });
  } finally {
    await nginx.stop();
  }
}

export const scenario: Scenario = {
  name: 'limited',
  about: 'nginx with limit_req and limit_conn, default options',
  async run() {
    const rows: Row[] = [];
    for (const one of CASES) rows.push(...(await crawlLimited(one)));
    return rows;
  },
};

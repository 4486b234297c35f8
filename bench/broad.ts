// A thousand hosts, politely: 20 pages and robots.txt each, one second between request starts of a host, once by links
// alone and once with the default discovery, which guesses at two sitemaps per host. The server's log and Sumi's own
// audit must both find nothing, and the hosts must wait for each other as little as possible.
import { join } from 'node:path';
import { newResults, PEERS_HOME, prepareCorpora, runPeers, whyNoPeers } from './peers.ts';
import { readFromSumi } from './run-sumi.ts';
import { atLeast, atMost, failed, type Row, type Scenario, shown, skipped } from './scenario.ts';

/** robots.txt and 20 pages are 21 requests, 20 gaps of one second. */
const IDEAL_S = 20;

const WAYS = [
  { way: 'by links', discover: 'links', most: 1.1 },
  // Two guesses more are 22 gaps.
  { way: 'default discovery', discover: 'sitemap,links', most: 1.2 },
];

interface BroadRun {
  pages: number;
  expected: number;
  twice: number;
  gaps: number;
  gaps_short: number;
  gap_min: number;
  gap_median: number;
  wall: number;
  cpu: number;
  rss: number;
  rc: number;
}

async function crawlBy({ way, discover, most }: (typeof WAYS)[number], hosts: number): Promise<Row[]> {
  const settings = { HOSTS: `${hosts}`, PEERS_DELAY: '1', SUMI_DISCOVER: discover };
  const [run] = await newResults<BroadRun>('broad.jsonl', () => runPeers('run-broad.sh', ['sumi'], settings));
  if (run === undefined) return [failed(way, 'the harness gave no result')];
  const file = join(PEERS_HOME, 'out', 'broad-sumi', 'sumi.db');
  // audit ends with 1 when it found violations: a figure here, not a failure to run.
  const report = await readFromSumi(['audit', '--db', file, '--json'], [0, 1]);
  const audit = JSON.parse(report) as { violations: number };
  return [
    atMost(`${way}: wall, ${hosts} hosts`, run.wall, most * IDEAL_S, 's'),
    atMost(`${way}: gaps under 0.95 s in the server log`, run.gaps_short, 0),
    atMost(`${way}: violations by sumi audit`, audit.violations, 0),
    atLeast(`${way}: pages`, run.pages, run.expected),
    atMost(`${way}: pages fetched twice`, run.twice, 0),
    atMost(`${way}: exit code`, run.rc, 0),
    shown(`${way}: gaps seen`, run.gaps),
    shown(`${way}: smallest and median gap`, `${run.gap_min} s, ${run.gap_median} s`),
    shown(`${way}: CPU`, run.cpu, 's'),
    shown(`${way}: max RSS`, run.rss, 'MB'),
  ];
}

export const scenario: Scenario = {
  name: 'broad',
  about: '1,000 hosts x 20 pages at one second a host',
  async run({ quick }) {
    const reason = whyNoPeers();
    if (reason !== undefined) return [skipped('broad crawl', reason)];
    await prepareCorpora(['broad']);
    const hosts = quick ? 100 : 1000;
    const rows: Row[] = [];
    for (const way of WAYS) rows.push(...(await crawlBy(way, hosts)));
    return rows;
  },
};

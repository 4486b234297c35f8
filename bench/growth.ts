// How the bill grows with the site: the same synthetic site at 1,000, 10,000 and 100,000 pages, served by another
// process. CPU a page must stay nearly flat and memory must not follow the crawl.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createSiteGraph } from '../src/demo/site-graph.ts';
import { inTemporaryFolder, measureSumi } from './run-sumi.ts';
import { atMost, failed, lessThan, median, type Row, type Scenario, shown } from './scenario.ts';
import { startSite } from './start-site.ts';

const SEED = 20_240_601;
const FLAGS = ['--delay', '0', '--no-robots', '--concurrency', '64', '--per-host', '64', '-q'];

interface Grown {
  pages: number;
  fetched: number;
  pagesPerSecond: number;
  cpuMsPerPage: number;
  maxRssMb: number;
  bytesPerPage: number;
  bytesPerLink: number;
}

function sizeOf(file: string): number {
  return [file, `${file}-wal`].reduce((sum, path) => sum + (existsSync(path) ? statSync(path).size : 0), 0);
}

/** Pages with an answer and bytes of the packed links, read from the file itself. */
function readFile(file: string): { fetched: number; linkBytes: number } {
  const database = new Database(file, { readonly: true });
  try {
    const { fetched } = database
      .prepare('SELECT count(*) AS fetched FROM fetched WHERE status_code = 200')
      .get() as {
      fetched: number;
    };
    const { bytes } = database
      .prepare(
        "SELECT coalesce(sum(pgsize), 0) AS bytes FROM dbstat WHERE name LIKE 'link_%' AND aggregate = TRUE",
      )
      .get() as { bytes: number };
    return { fetched, linkBytes: bytes };
  } finally {
    database.close();
  }
}

function countLinks(pages: number): number {
  const graph = createSiteGraph({ seed: SEED, pages });
  let links = 0;
  for (let index = 0; index < pages; index++) links += graph.linksOf(index).length;
  return links;
}

async function crawl(pages: number): Promise<Grown> {
  const site = await startSite({ seed: SEED, pages }, false);
  try {
    return await inTemporaryFolder(async (folder) => {
      const file = join(folder, 'sumi.db');
      const measured = await measureSumi(['crawl', `${site.origins[0]}/`, '--db', file, ...FLAGS]);
      const { fetched, linkBytes } = readFile(file);
      return {
        pages,
        fetched,
        pagesPerSecond: pages / (measured.wallMs / 1000),
        cpuMsPerPage: measured.cpuMs / pages,
        maxRssMb: measured.maxRssMb,
        bytesPerPage: sizeOf(file) / pages,
        bytesPerLink: linkBytes / countLinks(pages),
      };
    });
  } finally {
    await site.stop();
  }
}

/** The small crawls are short: the median of three says more than one. */
async function crawlOften(pages: number): Promise<Grown> {
  const runs: Grown[] = [];
  for (let n = 0; n < (pages <= 1000 ? 3 : 1); n++) runs.push(await crawl(pages));
  const middle = median(runs.map((run) => run.cpuMsPerPage));
  return runs.find((run) => run.cpuMsPerPage === middle)!;
}

function describe(grown: Grown): Row[] {
  const at = `${grown.pages.toLocaleString('en')} pages`;
  const rows = [
    shown(`${at}: pages/s`, grown.pagesPerSecond),
    shown(`${at}: CPU a page`, grown.cpuMsPerPage, 'ms'),
    shown(`${at}: max RSS`, grown.maxRssMb, 'MB'),
    shown(`${at}: store a page`, Math.round(grown.bytesPerPage), 'bytes'),
    shown(`${at}: store a link`, grown.bytesPerLink, 'bytes'),
  ];
  if (grown.fetched !== grown.pages) rows.push(failed(`${at}: pages fetched`, `${grown.fetched}`));
  return rows;
}

export const scenario: Scenario = {
  name: 'growth',
  about: 'a synthetic site of 1,000, 10,000 and 100,000 pages on one host',
  async run({ quick }) {
    const sizes = quick ? [1000, 3000, 10_000] : [1000, 10_000, 100_000];
    const grown: Grown[] = [];
    for (const pages of sizes) {
      grown.push(await crawlOften(pages));
      process.stderr.write(`  ${pages} pages: ${grown.at(-1)!.cpuMsPerPage.toFixed(3)} ms CPU a page\n`);
    }
    const [small, middle, large] = grown;
    return [
      ...grown.flatMap(describe),
      atMost('CPU a page, largest / smallest', large.cpuMsPerPage / small.cpuMsPerPage, 1.3, 'x'),
      lessThan('RSS, largest', large.maxRssMb, 300, 'MB'),
      atMost('RSS, largest / middle', large.maxRssMb / middle.maxRssMb, 1.5, 'x'),
    ];
  },
};

// Two projects at once on one SQLite file, a host each, against one project with both hosts: what it costs that runs
// share the file's one writer. Each crawl is a process of its own over the built library, and the two kinds take turns.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { inTemporaryFolder, measureNode, REPOSITORY } from './run-sumi.ts';
import { atLeast, atMost, median, type Row, type Scenario, shown } from './scenario.ts';

const SEED = 20_240_601;
/** Of each host: so many that beginning and ending a run twice does not show. */
const PAGES = 30_000;
/** Of each host. */
const PER_HOST = 32;
const HOSTS = ['127.0.0.1', '127.0.0.2'];

interface Site {
  origin: string;
  stop(): Promise<void>;
}

interface Crawled {
  pages: number;
  wallMs: number;
  cpuMs: number;
}

async function startSite(host: string, pages: number): Promise<Site> {
  const child = fork(join(REPOSITORY, 'bench', 'memory-site.ts'), [String(SEED), String(pages), host], {
    cwd: REPOSITORY,
    execArgv: ['--import', 'tsx'],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(message as number));
    child.once('exit', (code) => reject(new Error(`the site ended with ${code}`)));
  });
  const stop = () =>
    new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.disconnect();
    });
  return { origin: `http://${host}:${port}`, stop };
}

const OPTIONS = { delay: 0, robots: false, discover: ['links'], perHost: PER_HOST, adaptiveDelay: false };

/** Each crawl may have as many requests open as its hosts take: both kinds have as many in all. */
function crawlAll(projects: readonly (readonly string[])[]): Promise<Crawled> {
  return inTemporaryFolder(async (folder) => {
    const crawls = projects.map((startUrls, i) => ({
      ...{ ...OPTIONS, startUrls, project: `project ${i + 1}`, concurrency: PER_HOST * startUrls.length },
    }));
    const request = JSON.stringify({ db: join(folder, 'sumi.db'), crawls });
    const ended = await measureNode([join(REPOSITORY, 'bench', 'crawl-projects.mjs'), request]);
    if (ended.exitCode !== 0) throw new Error(ended.stderr.trim());
    return JSON.parse(ended.stdout) as Crawled;
  });
}

export const scenario: Scenario = {
  name: 'projects',
  about: 'two projects at once on one SQLite file, against one project with both hosts',
  async run({ quick }): Promise<Row[]> {
    const pages = quick ? 1000 : PAGES;
    const sites = await Promise.all(HOSTS.map((host) => startSite(host, pages)));
    try {
      const [a, b] = sites.map(({ origin }) => `${origin}/`);
      const together: Crawled[] = [];
      const apart: Crawled[] = [];
      for (let round = 0; round < (quick ? 1 : 5); round++) {
        together.push(await crawlAll([[a, b]]));
        apart.push(await crawlAll([[a], [b]]));
      }
      const missed = 2 * pages - Math.min(...[...together, ...apart].map((crawled) => crawled.pages));
      const rate = (crawled: Crawled) => (crawled.pages * 1000) / crawled.wallMs;
      const cost = (crawled: Crawled) => crawled.cpuMs / crawled.pages;
      const [one, two] = [together, apart].map((runs) => ({
        rate: median(runs.map(rate)),
        cost: median(runs.map(cost)),
      }));
      return [
        atMost('pages missed', missed, 0),
        shown(
          'one project with both hosts (median)',
          `${Math.round(one.rate)} pages/s, ${one.cost.toFixed(3)} ms CPU/page`,
        ),
        shown(
          'two projects at once (median)',
          `${Math.round(two.rate)} pages/s, ${two.cost.toFixed(3)} ms CPU/page`,
        ),
        atLeast('pages/s of two projects, of those of one', two.rate / one.rate, 0.95),
        shown('CPU a page of two projects, of that of one', two.cost / one.cost),
      ];
    } finally {
      for (const { stop } of sites) await stop();
    }
  },
};

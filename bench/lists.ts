// Lists of pages as a service asks for them, in a file of many pages against one of few, while a crawl runs into the same
// file from another process: every filter and sort, the first page of results and those that follow.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openReadSide } from '../src/store/open-store.ts';
import { listQuestions, quantile, timeCounts, timeQuestion } from './list-questions.ts';
import { fillLists } from './list-rows.ts';
import { inTemporaryFolder, plainEnvironment, REPOSITORY } from './run-sumi.ts';
import { atMost, lessThan, median, type Row, type Scenario, shown } from './scenario.ts';

const FEW = 10_000;
const MANY = 1_000_000;
const ROUNDS = 30;
const SITE_PAGES = 20_000;
const ORDINARY = 0.99;

interface Crawling {
  /** Ends the crawl, and says how many pages it had got. */
  stop(): Promise<void>;
}

const ended = (child: ChildProcess) => new Promise<void>((resolve) => child.once('exit', () => resolve()));

/** A crawl that goes on for as long as it is wanted: small sites are crawled again and again. */
async function startCrawling(path: string): Promise<Crawling> {
  const site = fork(join(REPOSITORY, 'bench', 'memory-site.ts'), ['7', String(SITE_PAGES)], {
    cwd: REPOSITORY,
    execArgv: ['--import', 'tsx'],
  });
  const port = await new Promise<number>((resolve, reject) => {
    site.once('message', (message) => resolve(message as number));
    site.once('exit', (code) => reject(new Error(`the site ended with ${code}`)));
  });
  let isOver = false;
  let crawl: ChildProcess | null = null;
  let visited: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    visited = resolve;
  });
  const again = async () => {
    while (!isOver) {
      const flags = [
        'crawl',
        `http://127.0.0.1:${port}/`,
        '--db',
        path,
        '--project',
        'crawled',
        '--mode',
        'full',
      ];
      crawl = spawn(
        process.execPath,
        ['--import', 'tsx', join('src', 'cli', 'sumi.ts'), ...flags, '--delay', '0', '--no-robots', '--json'],
        { cwd: REPOSITORY, env: plainEnvironment(), stdio: ['ignore', 'pipe', 'inherit'] },
      );
      crawl.stdout!.on('data', () => visited());
      await ended(crawl);
      visited();
    }
  };
  const crawling = again();
  await begun;
  return {
    async stop() {
      isOver = true;
      crawl?.kill('SIGTERM');
      await crawling;
      const gone = ended(site);
      site.disconnect();
      await gone;
    },
  };
}

type Times = Map<string, number[]>;

async function measure(
  folder: string,
  pages: number,
  rounds: number,
): Promise<{ times: Times; megabytes: number }> {
  const path = join(folder, `${pages}.db`);
  await fillLists({ path, pages, indexes: ['full-text', 'sections'] });
  const megabytes = statSync(path).size / 1e6;
  const crawling = await startCrawling(path);
  const side = await openReadSide(path, { thread: true });
  const times: Times = new Map();
  const add = (name: string, found: readonly number[]) =>
    void times.set(name, [...(times.get(name) ?? []), ...found]);
  try {
    for (let round = -1; round < rounds; round++) {
      for (const [name, query] of Object.entries(listQuestions(pages))) {
        const found = await timeQuestion(side, query);
        // The first round fills the caches.
        if (round >= 0) add(name, found);
      }
      for (const [name, time] of Object.entries(await timeCounts(side))) if (round >= 0) add(name, [time]);
    }
  } finally {
    await side.close();
    await crawling.stop();
  }
  return { times, megabytes };
}

const milliseconds = (value: number) => value.toFixed(1);

export const scenario: Scenario = {
  name: 'lists',
  about: 'every filter and sort of pages in a file of 1,000,000 against one of 10,000, during a crawl',
  async run({ quick }): Promise<Row[]> {
    const [few, many] = quick ? [1000, 20_000] : [FEW, MANY];
    const rounds = quick ? 3 : ROUNDS;
    return await inTemporaryFolder(async (folder) => {
      const small = await measure(folder, few, rounds);
      const large = await measure(folder, many, rounds);
      const all = ({ times }: { times: Times }) => [...times.values()].flat();
      const rows: Row[] = [];
      const names = [...large.times.keys()];
      for (const name of names) {
        const of = (times: Times) =>
          times.get(name) ?? times.get(name.replace(String(many >> 1), String(few >> 1)))!;
        const [before, after] = [of(small.times), of(large.times)];
        rows.push(
          shown(
            name,
            `p50 ${milliseconds(median(before))} → ${milliseconds(median(after))} ms, p99 ${milliseconds(quantile(before, ORDINARY))} → ${milliseconds(quantile(after, ORDINARY))} ms`,
          ),
        );
      }
      const [before, after] = [small, large].map((found) => quantile(all(found), ORDINARY));
      const worst = Math.max(...names.map((name) => quantile(large.times.get(name)!, ORDINARY)));
      rows.push(
        shown('file', large.megabytes, 'MB'),
        shown(
          `p50 at ${few} and ${many} pages`,
          `${milliseconds(median(all(small)))} and ${milliseconds(median(all(large)))} ms`,
        ),
        shown(`p99 at ${few} pages, of all questions`, before, 'ms'),
        lessThan(`p99 at ${many} pages, of all questions`, after, 50, 'ms'),
        lessThan('p99 of the slowest question', worst, 50, 'ms'),
        atMost(`p99 at ${many} pages, of that at ${few}`, after / before, 2),
      );
      return rows;
    });
  },
};

// What reading a sitemap costs: 50,000 entries, and ten gigabytes of zeros, each read by a process of its own over the road
// of the crawler (bench/sitemap-reader.ts). The built `sumi sitemap` beside it shows what the whole command takes.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { inTemporaryFolder, measureNode, measureSumi, REPOSITORY } from './run-sumi.ts';
import { atMost, failed, lessThan, median, type Row, type Scenario, shown } from './scenario.ts';

const ENTRIES = 50_000;
const CPU_MS = 250;
const GROWTH_MB = 30;

interface SitemapServer {
  origin: string;
  stop(): Promise<void>;
}

interface Reading {
  entries: number;
  problem: string | null;
  cpuMs: number;
  growthMb: number;
}

async function startServer(): Promise<SitemapServer> {
  const child = fork(join(REPOSITORY, 'bench', 'sitemap-server.ts'), ['1', `${ENTRIES}`], {
    cwd: REPOSITORY,
    execArgv: ['--import', 'tsx'],
  });
  const origin = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(message as string));
    child.once('exit', (code) => reject(new Error(`the server of sitemaps ended with ${code}`)));
  });
  const stop = () =>
    new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.disconnect();
    });
  return { origin, stop };
}

async function readOnce(origin: string, path: string): Promise<Reading> {
  const script = join(REPOSITORY, 'bench', 'sitemap-reader.ts');
  const tsx = join(REPOSITORY, 'node_modules', 'tsx', 'dist', 'esm', 'index.mjs');
  // With the setting of the command itself (scripts/start-command.cjs).
  const flags = process.versions.node.startsWith('20.') ? ['--max-inlined-bytecode-size-cumulative=300'] : [];
  const ended = await measureNode([...flags, '--import', tsx, script, `${origin}/1.xml`, `${origin}${path}`]);
  if (ended.exitCode !== 0) throw new Error(ended.stderr.trim());
  return JSON.parse(ended.stdout) as Reading;
}

async function commandRow(origin: string): Promise<Row> {
  const measured = await inTemporaryFolder((folder) =>
    measureSumi([
      ...['sitemap', `${origin}/${ENTRIES}.xml`, '--delay', '0', '--format', 'csv'],
      ...['--db', join(folder, 'sumi.db')],
    ]),
  );
  const rows = measured.stdout.trim().split('\n').length - 1;
  if (rows !== ENTRIES) return failed('the whole command', `${rows} rows of ${ENTRIES}`);
  return shown(
    'the whole command, every entry stored and listed',
    `${Math.round(measured.cpuMs)} ms CPU, ${Math.round(measured.maxRssMb)} MB`,
  );
}

export const scenario: Scenario = {
  name: 'sitemap',
  about: 'reading a sitemap of 50,000 entries, and ten gigabytes of zeros in ten megabytes',
  async run({ quick }) {
    const { origin, stop } = await startServer();
    try {
      const many: Reading[] = [];
      for (let round = 0; round < (quick ? 1 : 5); round++)
        many.push(await readOnce(origin, `/${ENTRIES}.xml`));
      const missed = ENTRIES - Math.min(...many.map(({ entries }) => entries));
      const zeros = await readOnce(origin, '/zeros.gz');
      return [
        atMost('50,000 entries: CPU (median)', median(many.map(({ cpuMs }) => cpuMs)), CPU_MS, 'ms'),
        lessThan(
          '50,000 entries: growth (worst)',
          Math.max(...many.map(({ growthMb }) => growthMb)),
          GROWTH_MB,
          'MB',
        ),
        atMost('50,000 entries: missed', missed, 0),
        lessThan('10 GB of zeros in 10 MB: growth', zeros.growthMb, GROWTH_MB, 'MB'),
        shown('10 GB of zeros in 10 MB', `${zeros.problem}, ${Math.round(zeros.cpuMs)} ms CPU`),
        await commandRow(origin),
      ];
    } finally {
      await stop();
    }
  },
};

// Real pages: Sumi against a Go crawler without features and against Crawlee, interleaved on the same pages and the
// same nginx. The server's log judges what was fetched; GNU time judges what it cost.
import { newResults, prepareCorpora, runPeers, whyNoPeers } from './peers.ts';
import { atLeast, atMost, failed, median, type Row, type Scenario, shown, skipped } from './scenario.ts';

const CRAWLERS = ['sumi', 'go-standin', 'crawlee-http'];
const CPU_BARS: Record<string, { most: number; aim: number }> = {
  small: { most: 2.5, aim: 2 },
  medium: { most: 0.7, aim: 0.5 },
};

interface PeerRun {
  crawler: string;
  corpus: string;
  pages: number;
  missed: number;
  extra: number;
  twice: number;
  wall: number;
  cpu: number;
  rss: number;
  rc: number;
  foreign: number;
}

function judge(corpus: string, runs: readonly PeerRun[]): Row[] {
  const of = (crawler: string) => runs.filter((run) => run.corpus === corpus && run.crawler === crawler);
  const speed = (crawler: string) => median(of(crawler).map((run) => run.pages / run.wall));
  const cpu = (crawler: string) =>
    median(of(crawler).map((run) => (1000 * run.cpu) / Math.max(1, run.pages)));
  const absent = CRAWLERS.filter((crawler) => of(crawler).length === 0);
  if (absent.length > 0) return [failed(corpus, `no result of ${absent.join(', ')}`)];
  const ours = of('sumi');
  const worst = (key: 'missed' | 'extra' | 'twice' | 'rc') => Math.max(...ours.map((run) => run[key]));
  const bar = CPU_BARS[corpus];
  return [
    atMost(`${corpus}: CPU a page`, cpu('sumi'), bar.most, 'ms', bar.aim),
    atLeast(`${corpus}: pages/s (bar: go-standin's)`, speed('sumi'), speed('go-standin')),
    atLeast(`${corpus}: pages/s against crawlee-http`, speed('sumi') / speed('crawlee-http'), 6, 'x'),
    ...(['missed', 'extra', 'twice', 'rc'] as const).map((key) => {
      const label = key === 'rc' ? 'exit code' : `pages ${key}`;
      return atMost(`${corpus}: ${label} (worst run)`, worst(key), 0);
    }),
    // Absolute figures move with the machine's mood; the ratio within one run hardly does.
    shown(`${corpus}: CPU a page against go-standin`, cpu('sumi') / cpu('go-standin'), 'x'),
    shown(`${corpus}: max RSS`, median(ours.map((run) => run.rss)), 'MB'),
    ...CRAWLERS.slice(1).map((crawler) =>
      shown(
        `${corpus}: ${crawler}`,
        `${Math.round(speed(crawler))} pages/s, ${cpu(crawler).toFixed(2)} ms CPU a page`,
      ),
    ),
    shown(`${corpus}: cores taken by others meanwhile`, median(ours.map((run) => run.foreign))),
  ];
}

export const scenario: Scenario = {
  name: 'corpora',
  about: 'real documentation sites, beside go-standin and crawlee-http (several minutes)',
  async run({ quick }) {
    const reason = whyNoPeers();
    if (reason !== undefined) return [skipped('real pages', reason)];
    const corpora = quick ? ['small'] : ['small', 'medium'];
    await prepareCorpora(corpora);
    const settings = { REPS: quick ? '1' : '3', CORPORA: corpora.join(' '), GZ: 'plain' };
    const runs = await newResults<PeerRun>('runs.jsonl', () => runPeers('run.sh', CRAWLERS, settings));
    return corpora.flatMap((corpus) => judge(corpus, runs));
  },
};

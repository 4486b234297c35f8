/**
 * A project with a past, made up from a seed: sections that change at different rates, a redesign, slow pages, errors,
 * pages that come and go. As rows, so that the same can stand in either store and a test can count for itself.
 */
import { KNOWN_BY, type KnownBy, VISIT_OUTCOMES, type VisitOutcome } from '../../src/change/visit-record.ts';
import { PAGE_STATES } from '../../src/frontier/page-state.ts';
import { NO_DEPTH } from '../../src/store/settlement.ts';
import { seededRandom } from '../seeded-random.ts';

export interface MadePage {
  id: number;
  hostId: number;
  url: string;
  title: string | null;
  depth: number;
  state: number;
  reason: string | null;
  changeFrequency: number;
  /** Null for a page that was never asked. */
  visitedAt: number | null;
}

export interface MadeVisit {
  run: number;
  page: number;
  at: number;
  outcome: VisitOutcome;
  knownBy: KnownBy;
  status: number | null;
  wireBytes: number;
  bytesSaved: number;
  durationMs: number | null;
}

export interface MadeRun {
  id: number;
  startedAt: number;
  finishedAt: number | null;
  status: string;
  mode: string;
}

export interface MadeHistory {
  hosts: string[];
  pages: MadePage[];
  runs: MadeRun[];
  visits: MadeVisit[];
}

export interface HistoryPlan {
  seed: number;
  hosts: readonly string[];
  runs: number;
  firstRunAt: number;
  stepMs: number;
  /** Path and number of pages, and the chance of a change from run to run. */
  sections: readonly (readonly [path: string, pages: number, change: number])[];
  /** The run in which everything changes. */
  redesign?: number;
}

export const SHOP: HistoryPlan = {
  seed: 7,
  hosts: ['shop.example'],
  runs: 34,
  firstRunAt: Date.parse('2025-02-03T02:00:00Z'),
  stepMs: 86_400_000,
  sections: [
    ['news', 130, 0.33],
    ['products', 420, 0.05],
    ['blog', 210, 0.02],
    ['docs', 160, 0.01],
    ['offers', 60, 0.6],
    ['jobs', 24, 0.09],
    ['help', 96, 0.004],
    ['team', 18, 0.002],
    ['events', 40, 0.12],
    ['press', 35, 0.015],
    ['caf%C3%A9', 12, 0.2],
    ['legal', 9, 0],
    ['', 14, 0.03],
  ],
  redesign: 21,
};

const NAMES = ['Autumn', 'Blue', 'Clay', 'Dover', 'Ember', 'Fern', 'Glass', 'Harbour', 'Indigo', 'Juniper'];
const THINGS = ['kettle', 'lamp', 'bowl', 'report', 'guide', 'chair', 'notes', 'tray', 'story', 'vase'];
const REASONS: [state: number, status: number | null, reason: string][] = [
  [PAGE_STATES.DeadLink, 404, 'http: 404'],
  [PAGE_STATES.Failed, 500, 'http: 500'],
  [PAGE_STATES.Unreachable, null, 'timeout: no answer within 60 s'],
  [PAGE_STATES.ContentMismatch, 200, 'type: application/pdf'],
];

export function makeHistory(plan: HistoryPlan): MadeHistory {
  const random = seededRandom(plan.seed);
  const pages: (MadePage & {
    rate: number;
    bytes: number;
    ms: number;
    hasEtag: boolean;
    from: number;
    until: number;
  })[] = [];
  for (const [at, host] of plan.hosts.entries()) {
    for (const [path, count, rate] of plan.sections) {
      for (let i = 0; i < count; i++) {
        const isHome = path === '' && i === 0;
        const title = `${random.pick(NAMES)} ${random.pick(THINGS)}`;
        const word = `${title.toLowerCase().replace(' ', '-')}-${i}`;
        const url = `https://${host}/${path === '' ? (isHome ? '' : word) : i === 0 ? path : `${path}/${word}`}`;
        const bad = !isHome && random.next() < 0.03 ? random.pick(REASONS) : null;
        const lives = random.next();
        pages.push({
          id: pages.length + 1,
          hostId: at + 1,
          url,
          title: bad === null && random.next() > 0.02 ? title : null,
          depth: isHome ? 0 : random.next() < 0.01 ? NO_DEPTH : 1 + random.below(path === 'blog' ? 8 : 4),
          state: bad?.[0] ?? PAGE_STATES.Processed,
          reason: bad?.[2] ?? null,
          changeFrequency: 0,
          visitedAt: null,
          rate: rate * (0.4 + 1.2 * random.next()),
          bytes: 9_000 + random.below(60_000),
          ms: (path === 'products' ? 90 : 30) * (0.5 + random.next()) * (random.next() < 0.03 ? 25 : 1),
          hasEtag: random.next() < 0.7,
          from: lives < 0.12 ? 1 + random.below(plan.runs) : 1,
          until: lives > 0.97 ? 3 + random.below(plan.runs) : plan.runs + 1,
        });
      }
    }
  }
  const runs: MadeRun[] = [];
  const visits: MadeVisit[] = [];
  for (let run = 1; run <= plan.runs; run++) {
    const startedAt = plan.firstRunAt + (run - 1) * plan.stepMs + random.below(1_200_000);
    let now = startedAt;
    for (const page of pages) {
      if (run < page.from || run > page.until) continue;
      now += 500 + random.below(200);
      const visit = visitOf(page, run, now);
      visits.push(visit);
      page.visitedAt = now;
      if (visit.outcome === 'gone') [page.state, page.reason] = [PAGE_STATES.Gone, 'http: 410'];
    }
    const isLast = run === plan.runs;
    runs.push({
      id: run,
      startedAt,
      finishedAt: now,
      status: run % 11 === 9 && !isLast ? 'interrupted' : 'completed',
      mode: run === 1 || run % 10 === 0 ? 'full' : 'incremental',
    });
  }
  // Found in the last run, not asked any more.
  const waiting = Array.from({ length: 40 }, (_, i) => ({
    id: pages.length + i + 1,
    hostId: 1,
    url: `https://${plan.hosts[0]}/archive/${i}`,
    title: null,
    depth: 5,
    state: PAGE_STATES.Skipped,
    reason: 'limit: max-pages 1200',
    changeFrequency: 0,
    visitedAt: null,
  }));

  function visitOf(page: (typeof pages)[number], run: number, at: number): MadeVisit {
    const durationMs = Math.round(page.ms * (0.7 + 0.9 * random.next()) * 10) / 10;
    const base = { run, page: page.id, at, wireBytes: 0, bytesSaved: 0, durationMs };
    const bad = REASONS.find(([state]) => state === page.state && page.state !== PAGE_STATES.Processed);
    if (bad !== undefined)
      return bad[1] === null
        ? { ...base, outcome: 'failed', knownBy: 'network', status: null, durationMs: null }
        : { ...base, outcome: 'failed', knownBy: 'status', status: bad[1], wireBytes: 300 };
    if (run === page.until)
      return page.id % 2 === 0
        ? { ...base, outcome: 'gone', knownBy: 'status', status: 410, wireBytes: 200 }
        : { ...base, outcome: 'gone', knownBy: 'orphan', status: 200, wireBytes: page.bytes };
    if (run === page.from)
      return { ...base, outcome: 'new', knownBy: 'content', status: 200, wireBytes: page.bytes };
    if (random.next() < 0.004)
      return { ...base, outcome: 'failed', knownBy: 'status', status: 503, wireBytes: 120 };
    const isChanged = run === plan.redesign ? random.next() < 0.9 : random.next() < page.rate;
    if (isChanged) {
      page.changeFrequency += 86_400_000 / plan.stepMs / plan.runs;
      return { ...base, outcome: 'changed', knownBy: 'content', status: 200, wireBytes: page.bytes };
    }
    const kind = random.next();
    if (kind < 0.08)
      return {
        ...base,
        outcome: 'unchanged',
        knownBy: 'freshness',
        status: null,
        bytesSaved: page.bytes,
        durationMs: null,
      };
    if (kind < 0.14)
      return {
        ...base,
        outcome: 'unchanged',
        knownBy: 'lastmod',
        status: null,
        bytesSaved: page.bytes,
        durationMs: null,
      };
    if (page.hasEtag)
      return { ...base, outcome: 'unchanged', knownBy: '304', status: 304, bytesSaved: page.bytes };
    return {
      ...base,
      outcome: 'unchanged',
      knownBy: kind < 0.3 ? 'text' : 'hash',
      status: 200,
      wireBytes: page.bytes,
    };
  }
  return { hosts: [...plan.hosts], pages: [...pages, ...waiting], runs, visits };
}

const text = (value: string | number | null) =>
  value === null ? 'NULL' : typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;

const A_STATEMENT = 500;

/** As statements that both schemas take; PostgreSQL's tables have the host besides, and what makes a URL unique. */
export function* toSql(
  { hosts, pages, runs, visits }: MadeHistory,
  kind: 'sqlite' | 'postgres',
): Generator<string> {
  const isShared = kind === 'postgres';
  const insert = function* (table: string, columns: string, rows: Iterable<(string | number | null)[]>) {
    let batch: string[] = [];
    for (const row of rows) {
      batch.push(`(${row.map(text).join(', ')})`);
      if (batch.length < A_STATEMENT) continue;
      yield `INSERT INTO ${table} (${columns}) VALUES ${batch.join(', ')}`;
      batch = [];
    }
    if (batch.length > 0) yield `INSERT INTO ${table} (${columns}) VALUES ${batch.join(', ')}`;
  };
  const withHost = (columns: string) => (isShared ? `${columns}, host_id` : columns);
  const hostOf = (page: MadePage) => (isShared ? [page.hostId] : []);
  yield* insert('project', 'id, name, created_at', [
    [1, 'shop', 0],
    [2, 'another', 0],
  ]);
  yield* insert(
    'host',
    'id, name',
    hosts.map((name, i) => [i + 1, name]),
  );
  const ofRun = (run: number) => visits.filter((visit) => visit.run === run);
  yield* insert(
    'run',
    'id, project_id, started_at, finished_at, status, config_hash, config, mode, requests, bytes, pages',
    runs.map(({ id, startedAt, finishedAt, status, mode }) => {
      const asked = ofRun(id).filter(({ durationMs }) => durationMs !== null);
      const bytes = asked.reduce((sum, { wireBytes }) => sum + wireBytes, 0);
      return [id, 1, startedAt, finishedAt, status, 'h', '{}', mode, asked.length, bytes, asked.length];
    }),
  );
  yield* insert(
    'url',
    `id, project_id, host_id, state, priority, depth, attempts, discovered_run, discovered_at, url, reason${isShared ? ', identity, rank' : ''}`,
    pages.map((page) => [
      page.id,
      1,
      page.hostId,
      page.state,
      1,
      page.depth,
      1,
      1,
      0,
      page.url,
      page.reason,
      ...(isShared ? [`00000000-0000-0000-0000-${String(page.id).padStart(12, '0')}`, 1] : []),
    ]),
  );
  yield* insert(
    'fetched',
    withHost('page_id, run_id, visited_at, title, noindex, nofollow, change_frequency'),
    pages
      .filter(({ visitedAt }) => visitedAt !== null)
      .map((page) => [
        page.id,
        runs.length,
        page.visitedAt,
        page.title,
        0,
        0,
        page.changeFrequency,
        ...hostOf(page),
      ]),
  );
  yield* insert(
    'visit',
    withHost(
      'run_id, page_id, visited_at, outcome, known_by, status_code, wire_bytes, bytes_saved, duration_ms',
    ),
    visits.map((visit) => [
      visit.run,
      visit.page,
      visit.at,
      VISIT_OUTCOMES.indexOf(visit.outcome),
      KNOWN_BY.indexOf(visit.knownBy),
      visit.status,
      visit.wireBytes,
      visit.bytesSaved,
      visit.durationMs,
      ...hostOf(pages[visit.page - 1]),
    ]),
  );
}

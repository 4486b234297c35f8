/**
 * The plan of revisits of a project, by the store's ids. It maps ids of pages and hosts to the plan's numbers, knows up
 * to which visit and sitemap date the plan has learned, and what of it is not saved yet: 4 bytes and a bit a page. It
 * reads the store in batches and never writes to it.
 */
import { FIRST_RETRY_MS, retryAt } from '../change/revisit/create-revisit-plan.ts';
import { PAGE_FLAGS } from '../change/revisit/page-facts.ts';
import type { Finding, RevisitPlan } from '../change/revisit/revisit-plan.ts';
import { parseHttpDate } from '../parse/http-date.ts';
import type { ReadSide, RevisitPage, VisitRowBrief } from '../store/read-side.ts';
import type { RevisitBatch } from '../store/revisit-batch.ts';
import { isUnfinished } from '../store/unfinished-run.ts';
import { type SavedSilence, SilentHosts } from './silent-hosts.ts';

/** States in which a watch never visits a page: the scope or robots.txt excludes it. */
const KEPT_OUT: ReadonlySet<RevisitPage['state']> = new Set([
  'Discovered',
  'Blacklisted',
  'Stubbed',
  'DepthExceeded',
  'Skipped',
]);

/** A page that was read once may be a page again. A URL that always had a refused type, such as a picture, gets no visits. */
const isKeptOut = ({ state, wasRead }: RevisitPage) =>
  KEPT_OUT.has(state) || (state === 'ContentMismatch' && !wasRead);

const BATCH = 5000;
/** The error of a server's clock. Times further in the future mean that our own clock was set back. */
const MAX_SKEW_MS = 15 * 60_000;
/** The depth of a page without links to it. */
const NO_DEPTH = 20;

/** A failed page may have been given up after its last visit: that is learned, but it is no visit. */
function lastVisitOf({ flags, visitedAt, learnedAt }: RevisitPage): number {
  if (visitedAt === null || learnedAt === null) return Number.NaN;
  const isInVain = !Number.isNaN(retryAt(flags, 0)) && (flags & PAGE_FLAGS.gone) === 0;
  return isInVain ? Math.min(visitedAt, learnedAt) : learnedAt;
}

/** An unfinished run: the plan has learned from its visits until this moment (wall milliseconds). */
export interface LearnedPart {
  run: number;
  until: number;
}

/** Saved with the plan: ids of hosts in the plan's order, silent hosts, and how far the plan has learned. */
export interface SavedBook {
  hostIds: readonly number[];
  silentHosts?: SavedSilence;
  learnedPart?: LearnedPart | null;
}

export class PlanBook {
  readonly plan: RevisitPlan;
  readonly projectId: number;
  /** The last run that the plan has learned from completely. */
  learnedRun: number;
  /** No run of the project was unfinished at the last call of `learn`. */
  hasLearnedAll = false;
  /** The unfinished run; null if there was none. */
  learnedPart: LearnedPart | null;
  readonly silent: SilentHosts;
  readonly #pages = new PageNumbers();
  readonly #hosts = new Map<number, number>();
  readonly #hostIds: number[] = [];
  #unsaved = new Uint8Array(0);
  /** Pages that were given up since the last save. */
  readonly #triedAt = new Map<number, number>();

  constructor(plan: RevisitPlan, projectId: number, learnedRun: number, saved: SavedBook | null) {
    this.plan = plan;
    this.projectId = projectId;
    this.learnedRun = learnedRun;
    this.learnedPart = saved?.learnedPart ?? null;
    this.silent = new SilentHosts(saved?.silentHosts);
    for (const id of saved?.hostIds ?? []) this.#hostNumber(id);
  }

  get hostIds(): number[] {
    return this.#hostIds;
  }

  get pageCount(): number {
    return this.#pages.count;
  }

  pageIdOf(page: number): number {
    return this.#pages.idOf(page);
  }

  /** -1: not in the plan. */
  pageOf(pageId: number): number {
    return this.#pages.find(pageId);
  }

  hostIdOf(host: number): number {
    return this.#hostIds[host];
  }

  /**
   * Adds pages of the store to the plan, except for excluded ones and those it has. Visits in the future count as visits
   * of `now`, and are saved so: otherwise the page would rest until then.
   */
  add(rows: readonly RevisitPage[], now: number): void {
    const planned = rows.filter((row) => !isKeptOut(row) && this.pageOf(row.pageId) === -1);
    const hosts = planned.map(({ hostId }) => this.#hostNumber(hostId));
    this.plan.load({
      host: hosts,
      weight: planned.map(({ depth }) => 1 / (1 + (depth ?? NO_DEPTH))),
      depth: planned.map(({ depth }) => depth ?? NO_DEPTH),
      lastVisit: planned.map((row) => notAhead(lastVisitOf(row), now)),
      // A page whose visits fail rests, also after a restart.
      nextVisit: planned.map(({ flags, visitedAt, learnedAt }) => {
        const triedAt = Math.max(visitedAt ?? 0, learnedAt ?? 0);
        return isAhead(triedAt, now) ? Number.NaN : retryAt(flags, triedAt);
      }),
      rateShape: planned.map(({ rateShape }) => rateShape),
      rateDays: planned.map(({ rateDays }) => rateDays),
      changeFrequency: planned.map(({ changeFrequency }) => changeFrequency),
      signals: planned.map(({ signals }) => signals),
      signalsInAll: planned.map(({ signalsInAll }) => signalsInAll),
      flags: planned.map(({ flags }) => flags),
    });
    for (const { pageId, learnedAt } of planned) {
      this.#pages.add(pageId);
      if (isAhead(learnedAt ?? 0, now)) this.markUnsaved(this.#pages.count - 1);
    }
  }

  /** Adds pages that a run found and gave up with their host before their first visit, so that no visit is in the history. */
  async addGivenUp(side: ReadSide, project: string, run: number, now: number): Promise<void> {
    const found: number[] = [];
    for await (const { id, visited_at } of side.pages({ project, states: ['Unreachable', 'RateLimited'] }))
      if (visited_at === null && this.pageOf(id) === -1) found.push(id);
    for (const id of found)
      for await (const rows of side.revisitPages(this.projectId, id)) {
        this.add(rows, now);
        for (const { state, hostId } of rows)
          if (state === 'Unreachable') this.silent.fallSilent(hostId, run, now);
      }
  }

  /**
   * Learns from the visits of runs after the last one learned. `onVisit` hears of each of them, also of those learned
   * before. `isPast`: the pages were loaded after these visits.
   */
  async learn(
    side: ReadSide,
    now: number,
    isPast: boolean,
    onVisit?: (visit: VisitRowBrief) => void,
  ): Promise<void> {
    const last = await side.lastRun(this.projectId);
    if (last === null) return;
    const added = new Set<number>();
    /** Pages all of whose links are new. */
    const speaking: number[] = [];
    /** Hosts that answer again, and since when they were silent. */
    const returned = new Map<number, number>();
    let until = 0;
    for await (const visit of side.visitsAfter(this.projectId, this.learnedRun)) {
      let page = this.pageOf(visit.pageId);
      if (page === -1) {
        for await (const rows of side.revisitPages(this.projectId, visit.pageId)) this.add(rows, now);
        page = this.pageOf(visit.pageId);
        if (page !== -1) added.add(page);
      }
      onVisit?.(visit);
      if (visit.run === last.run) until = visit.visitedAt;
      const silentSince = this.silent.hear(visit);
      if (silentSince !== null) returned.set(this.#hostNumber(visit.hostId), silentSince);
      if (page === -1) continue;
      // A visit may have been learned while its run was unfinished, or a cache may give the date of an older answer. The
      // plan gets its page back in both cases.
      const isOrphaned = findingOf(visit) === 'orphaned' && !this.plan.isGone(page);
      // Orphans are found at the end of a run, and noted in a visit that may have been learned before.
      const isLearned =
        visit.visitedAt <= this.plan.lastVisit(page) || isLearnedFailure(visit, this.learnedPart);
      if (isLearned && !isOrphaned) this.plan.release(page);
      else {
        const isBack = this.#observe(page, visit, now, isPast || added.has(page));
        if (this.plan.restingCount > 0 && (isBack || visit.outcome === 'new')) speaking.push(visit.pageId);
      }
    }
    await this.#recallLinked(side, speaking);
    this.#forgive(returned, now);
    this.hasLearnedAll = !isUnfinished(last);
    this.learnedPart = this.hasLearnedAll ? null : { run: last.run, until };
    this.learnedRun = Math.max(this.learnedRun, this.hasLearnedAll ? last.run : last.run - 1);
  }

  /** True if the page was gone and exists again. */
  #observe(page: number, visit: VisitRowBrief, now: number, isPast: boolean): boolean {
    const finding = findingOf(visit);
    const visitedAt = notAhead(visit.visitedAt, now);
    const modified = visit.lastModified === null ? null : parseHttpDate(visit.lastModified, visit.visitedAt);
    const wasGone = this.plan.isGone(page);
    if (isPast) this.plan.replay(page, finding, visitedAt, modified ?? undefined);
    else this.plan.observe(page, finding, visitedAt, modified ?? undefined);
    this.markUnsaved(page);
    return wasGone && !this.plan.isGone(page);
  }

  /** Recalls gone pages that got a link since they went. */
  async #recallLinked(side: ReadSide, speaking: readonly number[]): Promise<void> {
    if (this.plan.restingCount === 0) return;
    for (const source of [side.newlyLinked(this.projectId, this.learnedRun), side.linkedFrom(speaking)])
      for await (const targets of source) for (const pageId of targets) this.#recall(pageId, true);
  }

  #recall(pageId: number, isNews: boolean): void {
    const page = this.pageOf(pageId);
    if (page !== -1 && this.plan.recall(page, isNews)) this.markUnsaved(page);
  }

  /** Failed visits of the time in which a host was silent do not count any more: its pages are due again. */
  #forgive(returned: ReadonlyMap<number, number>, now: number): void {
    if (returned.size === 0) return;
    for (let page = 0; page < this.pageCount; page++) {
      const since = returned.get(this.plan.hostOf(page));
      if (since === undefined || !this.plan.forgive(page, since, now)) continue;
      this.markUnsaved(page);
      this.#triedAt.delete(page);
      // The time of the failed try decides when a page that was never read is tried again.
      if (Number.isNaN(this.plan.lastVisit(page))) this.#triedAt.set(page, now - FIRST_RETRY_MS);
    }
  }

  /** Finds silent hosts among those of pages that a run did not visit: it gave these pages up with their host. */
  async findSilent(side: ReadSide, unvisited: Iterable<number>, run: number, now: number): Promise<void> {
    const checked = new Set<number>();
    for (const page of unvisited) {
      const host = this.plan.hostOf(page);
      if (checked.has(host)) continue;
      checked.add(host);
      for await (const [row] of side.revisitPages(this.projectId, this.pageIdOf(page)))
        if (row.state === 'Unreachable') this.silent.fallSilent(this.hostIdOf(host), run, now);
    }
  }

  /** A planned visit was not even tried. */
  giveUp(page: number, now: number): void {
    this.plan.observe(page, 'failed', now);
    this.markUnsaved(page);
    this.#triedAt.set(page, now);
  }

  /** For a page that was given up: when. It rests after a restart, too. */
  #learnedAt(page: number): number {
    const triedAt = this.#triedAt.get(page);
    this.#triedAt.delete(page);
    return triedAt ?? this.plan.lastVisit(page);
  }

  /**
   * Passes dates of sitemaps to the plan that are new since the last call (`since`). A gone page that a sitemap names
   * since it went is recalled.
   */
  async readSignals(side: ReadSide, project: string, since: number, now: number): Promise<void> {
    for await (const rows of side.sitemapEntries({ project })) {
      for (const { page_id, lastmod, last_seen } of rows) {
        const page = this.pageOf(page_id);
        const isNamed = page !== -1 && Date.parse(last_seen) > this.plan.lastVisit(page);
        if (isNamed && this.plan.isGone(page)) this.#recall(page_id, false);
        const date = lastmod === null ? Number.NaN : Date.parse(lastmod);
        if (!Number.isNaN(date)) this.signal(page_id, date, since, now);
      }
    }
  }

  signal(pageId: number, date: number, since: number, now: number): void {
    const page = this.pageOf(pageId);
    // The last call has seen an older date, unless the page was visited since then.
    if (page === -1 || (this.plan.isSignalled(page) && date <= since)) return;
    const last = this.plan.lastVisit(page);
    if (!(date > last)) return;
    this.plan.signal(page, date, now);
    this.markUnsaved(page);
  }

  /** The page was visited, and its history was cleared before the plan learned from it. */
  assumeVisit(page: number, visitedAt: number, now: number): void {
    if (this.isUnsaved(page) || !Number.isNaN(this.plan.lastVisit(page))) return;
    this.plan.replay(page, 'new', notAhead(visitedAt, now));
    this.markUnsaved(page);
  }

  isUnsaved(page: number): boolean {
    return page >> 3 < this.#unsaved.length && (this.#unsaved[page >> 3] & (1 << (page & 7))) !== 0;
  }

  markUnsaved(page: number): void {
    if (page >> 3 >= this.#unsaved.length) {
      const wider = new Uint8Array(Math.max(1024, (this.#pages.count >> 2) + 1));
      wider.set(this.#unsaved);
      this.#unsaved = wider;
    }
    this.#unsaved[page >> 3] |= 1 << (page & 7);
  }

  /** Pages that changed since the last call, in batches. */
  *takeUnsaved(): Generator<RevisitBatch> {
    let pages: number[] = [];
    for (let octet = 0; octet < this.#unsaved.length; octet++) {
      const bits = this.#unsaved[octet];
      if (bits === 0) continue;
      this.#unsaved[octet] = 0;
      for (let bit = 0; bit < 8; bit++) if ((bits & (1 << bit)) !== 0) pages.push(octet * 8 + bit);
      if (pages.length < BATCH) continue;
      yield this.#batchOf(pages);
      pages = [];
    }
    if (pages.length > 0) yield this.#batchOf(pages);
  }

  #batchOf(pages: number[]): RevisitBatch {
    const { rateShape, rateDays, signals, signalsInAll, flags } = this.plan.savePages(pages);
    return {
      pageIds: pages.map((page) => this.pageIdOf(page)),
      learnedAt: pages.map((page) => this.#learnedAt(page)),
      ...{ rateShape, rateDays, signals, signalsInAll, flags },
    };
  }

  #hostNumber(hostId: number): number {
    const known = this.#hosts.get(hostId);
    if (known !== undefined) return known;
    this.#hosts.set(hostId, this.#hostIds.length);
    return this.#hostIds.push(hostId) - 1;
  }
}

/** What the plan learns from a visit. */
export function findingOf(visit: Pick<VisitRowBrief, 'outcome' | 'knownBy' | 'statusCode'>): Finding {
  const { outcome, knownBy, statusCode } = visit;
  if (outcome === 'gone' && knownBy === 'orphan') return 'orphaned';
  // The page was gone before and still is. A redirect to the same target is known by its status, too.
  const isGoneStill = outcome === 'unchanged' && knownBy === 'status' && (statusCode ?? 0) >= 400;
  if (outcome !== 'gone' && !isGoneStill) return outcome;
  return statusCode === 410 ? 'removed' : 'gone';
}

/** A failed visit does not move the time of the last visit, so the time until which was learned tells. */
export function isLearnedFailure(
  { run, outcome, visitedAt }: Pick<VisitRowBrief, 'run' | 'outcome' | 'visitedAt'>,
  part: LearnedPart | null | undefined,
): boolean {
  return outcome === 'failed' && run === part?.run && visitedAt <= part.until;
}

const isAhead = (time: number, now: number) => time > now + MAX_SKEW_MS;
const notAhead = (time: number, now: number) => (isAhead(time, now) ? now : time);

export const NO_REVISITS: RevisitBatch = {
  pageIds: [],
  learnedAt: [],
  rateShape: [],
  rateDays: [],
  signals: [],
  signalsInAll: [],
  flags: [],
};

/** Page ids in the order of the plan. Loaded pages come sorted by id, later ones in the order in which they were found. */
class PageNumbers {
  count = 0;
  #ids = new Int32Array(1024);
  #sorted = 0;
  readonly #later = new Map<number, number>();

  add(id: number): void {
    if (this.count === this.#ids.length) {
      const wider = new Int32Array(this.#ids.length * 2);
      wider.set(this.#ids);
      this.#ids = wider;
    }
    const isNext = this.#sorted === this.count && (this.count === 0 || id > this.#ids[this.count - 1]);
    if (isNext) this.#sorted++;
    else this.#later.set(id, this.count);
    this.#ids[this.count++] = id;
  }

  idOf(page: number): number {
    return this.#ids[page];
  }

  find(id: number): number {
    let low = 0;
    let high = this.#sorted - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (this.#ids[middle] === id) return middle;
      if (this.#ids[middle] < id) low = middle + 1;
      else high = middle - 1;
    }
    return this.#later.get(id) ?? -1;
  }
}

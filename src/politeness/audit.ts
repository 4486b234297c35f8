/**
 * Was every request polite? Replays the request log, host by host in the order of sending, and counts each request that
 * broke a rule of politeness. The log gives times and delays; the run's configuration gives the least delay.
 *
 * Promises: pure and streaming (memory for one host's open requests and blocks, and a bounded list of details); a
 * correct crawl has 0 violations. Never asks the store or the network. Rounding of up to 1 ms is accepted, because the
 * log mixes a wall clock of whole milliseconds with a finer monotonic one.
 */
import type { RequestRow } from '../store/read-side.ts';

export type ViolationKind =
  /** Sent before the slot that was reserved for it. */
  | 'early'
  /** Closer to the host's request before it than the delay in force. */
  | 'too-close'
  /** More requests of the host open at once than allowed. */
  | 'too-many'
  /** Sent while an earlier answer kept the host blocked. */
  | 'blocked'
  /** Its delay was below the configured one. */
  | 'below-floor'
  /** Sent sooner than one delay after a restart. */
  | 'after-restart';

export interface Violation {
  kind: ViolationKind;
  host: string;
  request: number;
  run: number;
  /** Wall milliseconds of the sending. */
  sentAt: number;
  detail: string;
}

export interface AuditResult {
  requests: number;
  hosts: number;
  violations: number;
  byKind: Partial<Record<ViolationKind, number>>;
  /** Restarts after a crash, one a host that was leased. */
  gaps: number;
  /**
   * Wall milliseconds: on hosts whose log was deleted until then, earlier requests are not judged. Null if nothing was
   * deleted.
   */
  clearedUntil: number | null;
  /** The first violations. */
  details: Violation[];
}

export interface AuditOptions {
  /** Count only this run's requests. Requests of other runs still count as the requests before them. */
  run?: number;
  /** The same for several runs, such as those of a project. */
  runs?: { has(run: number): boolean };
  /** The configured delay of a run, and the wall time from which it applied. */
  floorOf: (run: number) => { delayMs: number; sinceMs: number };
  maxDetails?: number;
}

const ROUNDING_MS = 1;

interface Block {
  fromMs: number;
  untilMs: number;
  /**
   * A block of the breaker ends with any answer. A block of a 429 ends only with the answer to a request sent after it.
   */
  byFailure: boolean;
}

interface HostScene {
  host: string;
  /** Only a part of the earlier requests is known, and a part may look worse than the whole. */
  clearedUntil: number;
  lastSent: RequestRow | null;
  gapAtMs: number | null;
  openUntil: number[];
  blocks: Block[];
  answers: { sentAt: number; endedAt: number }[];
  isCounted: boolean;
}

export async function auditRequests(
  rows: AsyncIterable<RequestRow> | Iterable<RequestRow>,
  options: AuditOptions,
): Promise<AuditResult> {
  const { maxDetails = 100 } = options;
  const result: AuditResult = {
    ...{ requests: 0, hosts: 0, violations: 0, byKind: {}, gaps: 0, clearedUntil: null, details: [] },
  };
  let scene = openScene('');
  for await (const row of rows) {
    if (row.host !== scene.host) scene = openScene(row.host);
    if (row.kind === 'cleared') {
      scene.clearedUntil = Math.max(scene.clearedUntil, row.endedAt);
      result.clearedUntil = Math.max(result.clearedUntil ?? 0, row.endedAt);
      continue;
    }
    const isKnown = row.sentAt >= scene.clearedUntil;
    const isJudged =
      isKnown &&
      (options.run === undefined || row.run === options.run) &&
      (options.runs?.has(row.run) ?? true);
    if (row.kind === 'gap') {
      if (isKnown) scene.gapAtMs = row.sentAt;
      if (isJudged) result.gaps++;
      continue;
    }
    if (isJudged) {
      result.requests++;
      if (!scene.isCounted) result.hosts++;
      scene.isCounted = true;
      for (const [kind, detail] of judge(row, scene, options.floorOf)) {
        result.violations++;
        result.byKind[kind] = (result.byKind[kind] ?? 0) + 1;
        if (result.details.length < maxDetails) {
          const { host, run, sentAt } = row;
          result.details.push({ kind, host, request: row.id, run, sentAt, detail });
        }
      }
    }
    remember(row, scene);
  }
  return result;
}

function openScene(host: string): HostScene {
  return {
    ...{ host, clearedUntil: 0, lastSent: null, gapAtMs: null },
    ...{ openUntil: [], blocks: [], answers: [], isCounted: false },
  };
}

function* judge(
  row: RequestRow,
  scene: HostScene,
  floorOf: AuditOptions['floorOf'],
): Generator<[ViolationKind, string]> {
  const { sentAt, delayMs } = row;
  if (sentAt < row.slotAt - ROUNDING_MS) yield ['early', `${ms(row.slotAt - sentAt)} before its slot`];
  const floor = floorOf(row.run);
  if (row.slotAt >= floor.sinceMs - ROUNDING_MS && delayMs < floor.delayMs - ROUNDING_MS)
    yield ['below-floor', `a delay of ${ms(delayMs)} where ${ms(floor.delayMs)} is configured`];
  if (scene.gapAtMs !== null && sentAt - scene.gapAtMs < delayMs - ROUNDING_MS)
    yield ['after-restart', `${ms(sentAt - scene.gapAtMs)} after a restart, delay ${ms(delayMs)}`];
  const wanted = scene.lastSent === null ? 0 : leastGap(scene.lastSent, row, floor.sinceMs);
  const gapMs = sentAt - (scene.lastSent?.sentAt ?? Number.NEGATIVE_INFINITY);
  if (gapMs < wanted - ROUNDING_MS)
    yield ['too-close', `${ms(gapMs)} after the one before, delay ${ms(wanted)}`];
  const open = scene.openUntil.filter((untilMs) => untilMs > sentAt + ROUNDING_MS).length + 1;
  if (open > row.perHost) yield ['too-many', `${open} open at once, ${row.perHost} allowed`];
  const block = scene.blocks.find((candidate) => holdsAt(candidate, sentAt, scene));
  if (block !== undefined)
    yield ['blocked', `${ms(block.untilMs - sentAt)} before the end of a block set by an earlier answer`];
}

/** If the delay was raised between two requests, the host's clock knew only the earlier delay. */
function leastGap(before: RequestRow, row: RequestRow, configuredSinceMs: number): number {
  const isSameConfiguration = before.run === row.run && before.sentAt >= configuredSinceMs - ROUNDING_MS;
  return isSameConfiguration ? row.delayMs : Math.min(before.delayMs, row.delayMs);
}

function holdsAt(block: Block, sentAt: number, scene: HostScene): boolean {
  if (sentAt < block.fromMs + ROUNDING_MS || sentAt >= block.untilMs - ROUNDING_MS) return false;
  return !scene.answers.some(
    (answer) =>
      answer.endedAt >= block.fromMs &&
      answer.endedAt <= sentAt + ROUNDING_MS &&
      (block.byFailure || answer.sentAt >= block.fromMs),
  );
}

function remember(row: RequestRow, scene: HostScene): void {
  const { sentAt, endedAt, blockedUntil } = row;
  scene.lastSent = sentAt >= scene.clearedUntil ? row : null;
  scene.gapAtMs = null;
  scene.openUntil = scene.openUntil.filter((untilMs) => untilMs > sentAt);
  scene.openUntil.push(endedAt);
  scene.blocks = scene.blocks.filter(({ untilMs }) => untilMs > sentAt);
  // Deleted requests ended before that time. One of them may have ended this block, but no later block.
  if (blockedUntil !== null && endedAt >= scene.clearedUntil)
    scene.blocks.push({ fromMs: endedAt, untilMs: blockedUntil, byFailure: row.statusCode === 0 });
  // An answer matters while it can end a block: one that holds now, or one that an open request may still bring.
  const oldest = Math.min(...scene.blocks.map(({ fromMs }) => fromMs));
  scene.answers = scene.answers.filter((answer) => answer.endedAt >= oldest || answer.endedAt > sentAt);
  if (row.statusCode !== 0 && blockedUntil === null) scene.answers.push({ sentAt, endedAt });
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}

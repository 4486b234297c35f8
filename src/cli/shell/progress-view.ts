/**
 * Shows how far the statement under way is, on standard error: a line redrawn in place on a terminal; elsewhere a line
 * now and then, for crawls only, because a query is over soon. What was drawn is gone before anything else is written.
 */
import { createLiveBlock, type LiveBlock } from '../../render/live-block.ts';
import { printable, showCount, showMany, showSeconds, type TextStream } from '../../render/terminal-text.ts';
import type { SqlProgress } from '../../sql/sql-session.ts';
import { columnsOf } from './result-output.ts';

const DRAW_EVERY_MS = 100;
const LINE_EVERY_MS = 5000;
/** A statement that ends sooner has no bar. */
const FIRST_DRAWN_MS = 400;
const BAR_CELLS = 30;

export interface ProgressView {
  show(progress: SqlProgress): void;
  /** A line for people; what is drawn stays below it. */
  say(line: string): void;
  /** Nothing of it is left. */
  clear(): void;
}

export interface ProgressSurroundings {
  err: Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>;
  /** Programs read standard error too: no lines there. */
  isQuiet: boolean;
  nowMs: () => number;
}

export function createProgressView({ err, isQuiet, nowMs }: ProgressSurroundings): ProgressView {
  const terminal: TextStream = {
    write: (text) => err.write(text),
    get columns() {
      return columnsOf(err);
    },
  };
  const block: LiveBlock | null = err.isTTY && !isQuiet ? createLiveBlock(terminal) : null;
  let begunAt: number | null = null;
  let shownAt = Number.NEGATIVE_INFINITY;

  function draw(progress: NonNullable<SqlProgress>, now: number): void {
    if (now - begunAt! < FIRST_DRAWN_MS || now - shownAt < DRAW_EVERY_MS) return;
    shownAt = now;
    block!.draw([renderSqlProgress(progress)]);
  }

  function tellOfCrawl(progress: NonNullable<SqlProgress>, now: number): void {
    if (!('crawl' in progress) || now - Math.max(shownAt, begunAt!) < LINE_EVERY_MS) return;
    shownAt = now;
    err.write(`${renderSqlProgress(progress)}\n`);
  }

  return {
    show(progress) {
      if (isQuiet) return;
      if (progress === null) {
        begunAt = null;
        return block?.clear();
      }
      const now = nowMs();
      begunAt ??= now;
      if (block === null) tellOfCrawl(progress, now);
      else draw(progress, now);
    },
    say(line) {
      if (isQuiet) return;
      if (block === null) err.write(`${printable(line)}\n`);
      else block.print(printable(line));
    },
    clear: () => block?.clear(),
  };
}

export function renderSqlProgress(progress: NonNullable<SqlProgress>): string {
  if ('query' in progress) return `${bar(progress.query)}`;
  const { target, pages, rows, waiting, errors, percent, secondsLeft } = progress.crawl;
  const parts = [
    showMany(pages, 'page'),
    showMany(rows, 'row'),
    `${showCount(waiting)} waiting`,
    ...(errors === 0 ? [] : [showMany(errors, 'error')]),
    ...(secondsLeft === null ? [] : [`about ${showSeconds(secondsLeft)} left`]),
  ];
  return `${bar(percent)}  ${printable(target)}: ${parts.join(', ')}`;
}

function bar(percent: number): string {
  const known = Number.isFinite(percent) ? Math.max(0, Math.min(100, percent)) : 0;
  const full = Math.floor((known / 100) * BAR_CELLS);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)} ${String(Math.floor(known)).padStart(3)} %`;
}

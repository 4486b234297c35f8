/**
 * Where and when the site changes: sections down, time across. A cell is darker if a larger share of its pages changed.
 */
import { showCount, showMany } from '../../render/terminal-text.ts';
import type { ChangeFigures, HeatCell } from '../../store/change-figures.ts';
import type { TimeBuckets } from '../../store/time-buckets.ts';
import { asTable, card, legend } from './card.ts';
import { type Markup, percent, tag } from './markup.ts';
import { oneStep, showBucket, showTick, ticksOf } from './time-words.ts';

/** Upper ends of the shades, as shares of the pages that could have changed. No page at all has a shade of its own. */
const SHADES = [0, 0.05, 0.15, 0.35, 0.65, 1];
const ROW_PX = 18;
const MOST_TICKS = 6;
const MOST_NARROW = { short: 3, long: 2 };
const LONG_WORD = 6;

interface Sum extends Omit<HeatCell, 'section' | 'bucket'> {}

const NOTHING: Sum = { visits: 0, new: 0, changed: 0, gone: 0, failed: 0, wireBytes: 0, bytesSaved: 0 };

/** Visits of a column of time, over all sections. */
export function sumByBucket(cells: readonly HeatCell[], count: number): Sum[] {
  const sums = Array.from({ length: count }, () => ({ ...NOTHING }));
  for (const cell of cells) {
    const sum = sums[cell.bucket];
    for (const key of Object.keys(NOTHING) as (keyof Sum)[]) sum[key] += cell[key];
  }
  return sums;
}

/** Pages that existed before and exist now: only these can have changed. */
const comparedIn = ({ visits, new: fresh, gone, failed }: Sum) => visits - fresh - gone - failed;

export function drawHeatMap({
  buckets,
  sections,
  cells,
}: Pick<ChangeFigures, 'sections' | 'cells'> & { buckets: TimeBuckets }): Markup {
  const rows = sections.map(({ name, pages }) => {
    const mine = cells.filter(({ section }) => section === name);
    return { name: showSection(name), pages, sums: sumByBucket(mine, buckets.count) };
  });
  const pages = sections.reduce((sum, section) => sum + section.pages, 0);
  const all = { name: 'all sections', pages, sums: sumByBucket(cells, buckets.count) };
  const shown = rows.length > 1 ? [all, ...rows] : rows;
  return card(
    {
      id: 'heat',
      title: 'Where and when the site changes',
      note: `Share of the pages visited again that had changed, by section; a column is ${oneStep(buckets.stepMs)}.`,
      size: 'wide',
    },
    tag(
      'div',
      { class: 'heat' },
      shown.map((row) => drawRow(row, buckets)),
      tag(
        'div',
        { class: 'row axis' },
        tag('span', {}),
        drawAxis(buckets),
        tag('span', { class: 'total' }, 'changes'),
      ),
    ),
    legend([
      ['first', 'read for the first time'],
      ...SHADES.map((end, i): [string, string] => [`heat-${i}`, shadeWords(end, i)]),
    ]),
    asTable(
      [
        { title: 'section' },
        { title: 'when' },
        { title: 'visits', isNumber: true },
        { title: 'new', isNumber: true },
        { title: 'changed', isNumber: true },
        { title: 'gone', isNumber: true },
        { title: 'failed', isNumber: true },
      ],
      rows.flatMap(({ name, sums }) =>
        sums.flatMap((sum, bucket) =>
          sum.visits === 0
            ? []
            : [
                [
                  name,
                  showBucket(buckets, bucket),
                  ...[sum.visits, sum.new, sum.changed, sum.gone, sum.failed].map(showCount),
                ],
              ],
        ),
      ),
    ),
  );
}

function drawRow(
  { name, pages, sums }: { name: string; pages: number; sums: Sum[] },
  buckets: TimeBuckets,
): Markup {
  const changes = sums.reduce((sum, { changed }) => sum + changed, 0);
  return tag(
    'div',
    { class: 'row' },
    tag('span', { class: 'name', title: `${name}: ${showMany(pages, 'page')}` }, tag('bdi', {}, name)),
    tag(
      'svg',
      { width: '100%', height: ROW_PX, 'aria-hidden': 'true' },
      sums.flatMap((sum, bucket) =>
        sum.visits === 0
          ? []
          : [
              tag('rect', {
                class: kindOf(sum),
                x: percent(bucket / buckets.count),
                width: percent(1 / buckets.count),
                height: ROW_PX,
                'data-tip': tipOf(name, showBucket(buckets, bucket), sum),
              }),
            ],
      ),
    ),
    tag('span', { class: 'total', title: showMany(changes, 'change') }, showCount(changes)),
  );
}

function kindOf(sum: Sum): string {
  const compared = comparedIn(sum);
  if (compared <= 0) return sum.new > 0 ? 'first' : 'untold';
  const share = sum.changed / compared;
  return `heat-${SHADES.findIndex((end) => share <= end)}`;
}

function tipOf(name: string, when: string, sum: Sum): string {
  const compared = comparedIn(sum);
  const lines = [name, when];
  if (compared > 0)
    lines.push(
      `${showCount(sum.changed)} of ${showMany(compared, 'page')} changed (${Math.round((sum.changed / compared) * 1000) / 10} %)`,
    );
  for (const kind of ['new', 'gone', 'failed'] as const)
    if (sum[kind] > 0) lines.push(`${showCount(sum[kind])} ${kind}`);
  return lines.join('\n');
}

function shadeWords(end: number, at: number): string {
  if (at === 0) return 'nothing changed';
  return at === SHADES.length - 1 ? `over ${SHADES[at - 1] * 100} %` : `up to ${end * 100} %`;
}

/** As people write it: percent-escapes decoded, if the result is harmless. */
export function showSection(name: string | null): string {
  if (name === null) return 'all others';
  try {
    return decodeURIComponent(name);
  } catch {
    // Not UTF-8: shown as it is.
    return name;
  }
}

export function drawAxis(buckets: TimeBuckets, height = 18, top = 13): Markup {
  const ticks = ticksOf(buckets.count, MOST_TICKS);
  // On a narrow screen few fit, and fewer if the words are long.
  const isLong = ticks.some((bucket) => showTick(buckets, bucket).length > LONG_WORD);
  const shownNarrow = new Set(ticksOf(ticks.length, isLong ? MOST_NARROW.long : MOST_NARROW.short));
  return tag(
    'svg',
    { class: 'ticks', width: '100%', height, 'aria-hidden': 'true' },
    ticks.map((bucket, i) =>
      tag(
        'text',
        { x: percent(bucket / buckets.count), y: top, class: shownNarrow.has(i) ? undefined : 'minor' },
        showTick(buckets, bucket),
      ),
    ),
  );
}

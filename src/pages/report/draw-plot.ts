/**
 * Pictures over time: stacked columns, or a curve. Widths are in percent, so the picture is as wide as the screen or
 * the paper, and its words keep their size.
 */
import type { TimeBuckets } from '../../store/time-buckets.ts';
import { drawAxis } from './draw-heat-map.ts';
import { type Content, type Markup, percent, tag } from './markup.ts';

const PLOT_PX = 150;
const HEAD_PX = 8;

export interface Series {
  kind: string;
  values: readonly number[];
}

interface Frame {
  buckets: TimeBuckets;
  /** The value of the uppermost line. */
  top: number;
  show(value: number): string;
  /** The text for a column. */
  tip(bucket: number): string;
}

export function drawColumns(frame: Frame, series: readonly Series[]): Markup {
  const { buckets, top } = frame;
  const bars: Markup[] = [];
  for (let bucket = 0; bucket < buckets.count; bucket++) {
    let below = 0;
    for (const { kind, values } of series) {
      const height = (values[bucket] / top) * PLOT_PX;
      below += height;
      if (height <= 0) continue;
      bars.push(
        tag('rect', {
          class: kind,
          x: percent((bucket + 0.08) / buckets.count),
          width: percent(0.84 / buckets.count),
          y: round(HEAD_PX + PLOT_PX - below),
          height: round(height),
        }),
      );
    }
  }
  return drawFrame(frame, bars);
}

/** `shares` from 0 to 1; null if there is no value. */
export function drawCurve(frame: Omit<Frame, 'top' | 'show'>, shares: readonly (number | null)[]): Markup {
  const { count } = frame.buckets;
  const first = shares.findIndex((share) => share !== null);
  const places = shares
    .slice(first)
    .map((share, i) => `${round(((first + i + 0.5) / count) * 1000)} ${round((1 - share!) * PLOT_PX)}`);
  const [from, to] = [(first + 0.5) / count, (count - 0.5) / count].map((share) => round(share * 1000));
  const view = { x: 0, y: HEAD_PX, width: '100%', height: PLOT_PX, viewBox: `0 0 1000 ${PLOT_PX}` };
  const curve = tag(
    'svg',
    { ...view, preserveAspectRatio: 'none', class: 'curve' },
    tag('path', { class: 'area', d: `M${from} ${PLOT_PX}L${places.join('L')}L${to} ${PLOT_PX}Z` }),
    tag('path', { class: 'line', d: `M${places.join('L')}` }),
  );
  const dots = shares.flatMap((share, bucket) =>
    share === null
      ? []
      : [
          tag('circle', {
            class: 'dot',
            cx: percent((bucket + 0.5) / count),
            cy: round(HEAD_PX + (1 - share) * PLOT_PX),
            r: 2.5,
          }),
        ],
  );
  const show = (value: number) => `${Math.round(value * 100)} %`;
  return drawFrame({ ...frame, top: 1, show }, [curve, ...dots]);
}

function drawFrame({ buckets, top, show, tip }: Frame, marks: readonly Content[]): Markup {
  const height = PLOT_PX + HEAD_PX + 2;
  const lines = [0, 0.5, 1].map((share) => ({ y: round(HEAD_PX + (1 - share) * PLOT_PX), share }));
  const areas = Array.from({ length: buckets.count }, (_, bucket) =>
    tag('rect', {
      class: 'touch',
      x: percent(bucket / buckets.count),
      width: percent(1 / buckets.count),
      height,
      'data-tip': tip(bucket),
    }),
  );
  return tag(
    'div',
    { class: 'plot' },
    tag(
      'svg',
      { class: 'scale', width: '100%', height, 'aria-hidden': 'true' },
      lines.map(({ y, share }) =>
        tag('text', { x: '100%', y: y + 4, 'text-anchor': 'end' }, show(share * top)),
      ),
    ),
    tag(
      'svg',
      { width: '100%', height, 'aria-hidden': 'true' },
      lines.map(({ y }) => tag('line', { class: 'grid', x1: 0, x2: '100%', y1: y, y2: y })),
      marks,
      areas,
    ),
    tag('span', {}),
    drawAxis(buckets),
  );
}

const round = (value: number) => Math.round(value * 100) / 100;

/** The next larger number that is easy to halve. */
export function roundUp(value: number): number {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value)!;
}

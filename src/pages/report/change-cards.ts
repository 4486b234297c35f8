/** The cards about change: how fresh the copies are, what visits found, what was saved. */
import type { KnownBy, VisitOutcome } from '../../change/visit-record.ts';
import { showBytes, showCount, showMany } from '../../render/terminal-text.ts';
import type { ChangeFigures, LedgerFigures } from '../../store/change-figures.ts';
import type { TimeBuckets } from '../../store/time-buckets.ts';
import { asTable, card, legend } from './card.ts';
import { drawBars } from './draw-bars.ts';
import { sumByBucket } from './draw-heat-map.ts';
import { drawColumns, drawCurve, roundUp } from './draw-plot.ts';
import { type FreshnessCurve, shareOf } from './freshness-curve.ts';
import { type Markup, tag } from './markup.ts';
import { oneStep, showBucket } from './time-words.ts';

type History = Pick<ChangeFigures, 'cells'> & { buckets: TimeBuckets };

export const showShare = (share: number): string => `${(share * 100).toFixed(1)} %`;

export function drawFreshness({ buckets, cells }: History, { points, rate }: FreshnessCurve): Markup {
  const shares = points.map(shareOf);
  const tip = (bucket: number) => {
    const share = shares[bucket];
    const told = share === null ? 'nothing read yet' : `${showShare(share)} believed current`;
    return `${showBucket(buckets, bucket)}\n${told}`;
  };
  return card(
    {
      id: 'freshness',
      title: 'Freshness of the copies',
      note: `Share of the stored pages believed to be as on the site; an estimate, see below. ${describeRate({ buckets, cells }, rate)}`,
    },
    drawCurve({ buckets, tip }, shares),
    asTable(
      [
        { title: 'when' },
        { title: 'copies', isNumber: true },
        { title: 'believed current', isNumber: true },
        { title: 'share', isNumber: true },
      ],
      points.flatMap((point, bucket) =>
        point.copies === 0
          ? []
          : [
              [
                showBucket(buckets, bucket),
                showCount(Math.round(point.copies)),
                showCount(Math.round(point.current)),
                showShare(shareOf(point)!),
              ],
            ],
      ),
    ),
  );
}

/** `rate`: changes a page and column. */
function describeRate({ buckets, cells }: History, rate: number): string {
  const time = oneStep(buckets.stepMs);
  if (rate >= 1) return `In ${time}, a page changes ${rate.toFixed(1)} times.`;
  if (rate > 0) return `In ${time}, ${showShare(rate)} of the pages change.`;
  // A change may be known without its earlier visit: then nobody knows how long it took.
  return cells.some(({ changed, gone }) => changed + gone > 0)
    ? 'How often pages change is not known from what is kept.'
    : 'No page has been seen to change yet.';
}

const OUTCOME_ORDER: readonly VisitOutcome[] = ['unchanged', 'changed', 'new', 'gone', 'failed'];

export function drawOutcomes({ buckets, cells }: History): Markup {
  const sums = sumByBucket(cells, buckets.count).map((sum) => ({
    ...sum,
    unchanged: sum.visits - sum.new - sum.changed - sum.gone - sum.failed,
  }));
  const top = roundUp(Math.max(...sums.map(({ visits }) => visits)));
  const tip = (bucket: number) =>
    [
      showBucket(buckets, bucket),
      showMany(sums[bucket].visits, 'visit'),
      ...OUTCOME_ORDER.filter((outcome) => sums[bucket][outcome] > 0).map(
        (outcome) => `${showCount(sums[bucket][outcome])} ${outcome}`,
      ),
    ].join('\n');
  return card(
    { id: 'outcomes', title: 'What visits found', note: 'Visits by their outcome, over time.' },
    drawColumns(
      { buckets, top, show: (value) => showCount(Math.round(value)), tip },
      OUTCOME_ORDER.map((kind) => ({ kind, values: sums.map((sum) => sum[kind]) })),
    ),
    legend(OUTCOME_ORDER.map((outcome) => [outcome, outcome])),
    asTable(
      [
        { title: 'when' },
        { title: 'visits', isNumber: true },
        ...OUTCOME_ORDER.map((title) => ({ title, isNumber: true as const })),
      ],
      sums.flatMap((sum, bucket) =>
        sum.visits === 0
          ? []
          : [
              [
                showBucket(buckets, bucket),
                showCount(sum.visits),
                ...OUTCOME_ORDER.map((outcome) => showCount(sum[outcome])),
              ],
            ],
      ),
    ),
  );
}

/** How the outcome of a visit was known, cheapest first. */
const LEVEL_WORDS: Record<KnownBy, string> = {
  freshness: 'still fresh by Cache-Control: not asked',
  lastmod: 'not newer in the sitemap: not asked',
  '304': '304 Not Modified',
  hash: 'the same bytes',
  text: 'other bytes, the same content',
  content: 'read',
  status: 'by its status',
  network: 'no answer',
  orphan: 'nothing leads there any more',
};

export function drawBandwidth({ buckets, cells }: History, ledger: readonly LedgerFigures[]): Markup {
  const sums = sumByBucket(cells, buckets.count);
  const top = roundUp(Math.max(...sums.map(({ wireBytes, bytesSaved }) => wireBytes + bytesSaved)));
  const tip = (bucket: number) =>
    [
      showBucket(buckets, bucket),
      `${showBytes(sums[bucket].wireBytes)} transferred`,
      `${showBytes(sums[bucket].bytesSaved)} saved`,
    ].join('\n');
  return card(
    {
      id: 'bandwidth',
      title: 'Bandwidth',
      note: 'Bytes of pages that were transferred, and that were spared.',
    },
    drawColumns({ buckets, top, show: (value) => showBytes(value), tip }, [
      { kind: 'sent', values: sums.map(({ wireBytes }) => wireBytes) },
      { kind: 'saved', values: sums.map(({ bytesSaved }) => bytesSaved) },
    ]),
    legend([
      ['sent', 'transferred'],
      ['saved', 'saved'],
    ]),
    asTable(
      [
        { title: 'when' },
        { title: 'bytes transferred', isNumber: true },
        { title: 'bytes saved', isNumber: true },
      ],
      sums.flatMap(({ visits, wireBytes, bytesSaved }, bucket) =>
        visits === 0 ? [] : [[showBucket(buckets, bucket), showCount(wireBytes), showCount(bytesSaved)]],
      ),
    ),
    drawLedger(ledger),
  );
}

function drawLedger(ledger: readonly LedgerFigures[]): Markup {
  const rows = ledger.filter(({ bytesSaved, outcome }) => bytesSaved > 0 || outcome === 'unchanged');
  if (rows.length === 0)
    return tag('p', { class: 'note' }, 'Nothing was spared yet: every page was read for the first time.');
  return tag(
    'div',
    {},
    tag('h3', {}, 'Saved, by how it was known'),
    drawBars(
      rows.map(({ knownBy, visits, wireBytes, bytesSaved }) => ({
        label: LEVEL_WORDS[knownBy],
        count: bytesSaved,
        shown: showBytes(bytesSaved),
        aside: showMany(visits, 'visit'),
        kind: 'saved',
        tip: `${LEVEL_WORDS[knownBy]}\n${showMany(visits, 'visit')}\n${showBytes(bytesSaved)} saved, ${showBytes(wireBytes)} transferred`,
      })),
      ['known by', 'bytes saved'],
    ),
  );
}

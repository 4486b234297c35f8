/**
 * Writes a project, or one of its runs, as one page that opens from disk: pictures as SVG in the page itself, with
 * their numbers beside them, so that it can be read without a script and printed. The script only shows the facts under
 * the pointer. Titles, URLs and reasons come from the web and are always escaped.
 */

import { printable, showBytes, showCount, showMany } from '../../render/terminal-text.ts';
import type { ChangeFigures } from '../../store/change-figures.ts';
import { fillPage } from '../self-contained-page.ts';
import { drawBandwidth, drawFreshness, drawOutcomes, showShare } from './change-cards.ts';
import { drawHeatMap } from './draw-heat-map.ts';
import { drawBroken, drawSections, firstTiles } from './first-cards.ts';
import { type FreshnessCurve, freshnessCurve, shareOf } from './freshness-curve.ts';
import { type Content, htmlOf, type Markup, tag } from './markup.ts';
import {
  drawChanging,
  drawDepths,
  drawErrors,
  drawResponses,
  drawRuns,
  drawSlowest,
  drawStates,
  drawStatuses,
} from './page-cards.ts';
import { pageParts } from './page-parts.ts';
import type { ReportFacts } from './report-facts.ts';
import { showDay, showMoment } from './time-words.ts';

export async function renderReportPage(facts: ReportFacts): Promise<string> {
  const { figures, project, run, madeAt } = facts;
  // Copies of a project age whether they are visited or not. A run is judged by its state at its end.
  const runEnd = figures.runList.find((row) => row.run === run)?.finishedAt;
  const curve = freshnessCurve(figures, runEnd ?? madeAt);
  const title = run === null ? printable(project) : `Run ${run} of ${printable(project)}`;
  return fillPage(await pageParts(), {
    title,
    data: { ...facts, freshness: curve },
    markup: {
      about: htmlOf(describe(facts)),
      headline: htmlOf(headline(facts, curve)),
      cards: htmlOf(drawCards(facts, curve)),
    },
  });
}

/** Pages were read, but their history was deleted. */
const isCleared = ({ buckets, visited }: ChangeFigures) => buckets === null && visited > 0;

function describe({ figures, madeAt, version }: ReportFacts): Content {
  const { firstVisitAt, runs } = figures;
  const none = isCleared(figures) ? 'no visits are kept' : 'no visits yet';
  const span = firstVisitAt === null ? none : `${showMany(runs, 'run')} since ${showDay(firstVisitAt)}`;
  return `${span} · written ${showMoment(madeAt)} UTC by sumi ${version}`;
}

/** A single run has no history: its own results are all there is. */
const isFirst = ({ figures }: ReportFacts) => figures.buckets !== null && figures.runs <= 1;

function headline(facts: ReportFacts, curve: FreshnessCurve): Content {
  const { figures, run } = facts;
  const { ledger } = figures;
  if (isFirst(facts)) {
    const tiles = firstTiles(facts).map(({ label, value, note }) => tile(label, value, note));
    return tag('dl', { class: 'headline' }, tiles);
  }
  const sum = (pick: (row: (typeof ledger)[number]) => number) =>
    ledger.reduce((total, row) => total + pick(row), 0);
  const of = (outcome: string) => sum((row) => (row.outcome === outcome ? row.visits : 0));
  const [sent, saved] = [sum((row) => row.wireBytes), sum((row) => row.bytesSaved)];
  const share = shareOf(curve.now);
  return tag(
    'dl',
    { class: 'headline' },
    tile(
      'pages',
      showCount(figures.visited),
      `of ${showCount(figures.known)} known, ${showMany(figures.hosts, 'host')}`,
    ),
    tile(
      'visits',
      showCount(sum((row) => row.visits)),
      run === null ? showMany(figures.runs, 'run') : `in run ${run}`,
    ),
    tile('changes', showCount(of('changed')), `${showCount(of('new'))} new, ${showCount(of('gone'))} gone`),
    tile('believed fresh', share === null ? '–' : showShare(share), 'of the stored copies'),
    tile('transferred', showBytes(sent), `${showCount(of('failed'))} failed`),
    tile(
      'saved',
      showBytes(saved),
      sent + saved > 0 ? `${showShare(saved / (sent + saved))} of what a full crawl takes` : '',
    ),
  );
}

const tile = (label: string, value: string, note: string): Markup =>
  tag('div', {}, tag('dt', {}, label), tag('dd', {}, value), tag('dd', { class: 'sub' }, note));

function drawCards(facts: ReportFacts, curve: FreshnessCurve): Content {
  const { figures, state, run } = facts;
  if (isFirst(facts))
    return [
      drawStatuses(figures),
      drawErrors(state, run !== null),
      drawBroken(facts) ?? '',
      drawDepths(figures),
      drawResponses(figures),
      drawStates(state),
      drawSlowest(figures),
      drawSections(figures),
      drawRuns(figures.runList),
      footer(['Sections']),
    ];
  const { buckets, sections, cells, ledger } = figures;
  const overTime =
    buckets === null
      ? [
          tag(
            'section',
            { class: 'card wide' },
            tag(
              'p',
              { class: 'empty' },
              isCleared(figures)
                ? 'No visits are kept: their history was cleared.'
                : 'There is no history yet: nothing was visited.',
            ),
          ),
        ]
      : [
          drawHeatMap({ buckets, sections, cells }),
          drawFreshness({ buckets, cells }, curve),
          drawOutcomes({ buckets, cells }),
          drawBandwidth({ buckets, cells }, ledger),
        ];
  return [
    ...overTime,
    tag('div', { class: 'stack' }, drawStatuses(figures), drawErrors(state, run !== null)),
    drawChanging(figures, isCleared(figures)),
    drawSlowest(figures),
    drawStates(state),
    drawResponses(figures),
    drawDepths(figures),
    drawBroken(facts) ?? '',
    drawRuns(figures.runList),
    footer(EXPLAINED.map(([word]) => word)),
  ];
}

function footer(words: readonly string[]): Markup {
  const told = EXPLAINED.filter(([word]) => words.includes(word));
  return tag(
    'footer',
    { class: 'wide' },
    told.map(([word, text]) => tag('p', {}, tag('strong', {}, word), ` ${text}`)),
  );
}

const EXPLAINED = [
  [
    'Sections',
    'are the first folder of a page’s path (with several hosts: the host as well), the 20 with most pages; pages at the top of the site that are no folder are “/”.',
  ],
  [
    'Freshness',
    'is an estimate from the visits, averaged over each column, the last one as far as it has come; the headline is of the moment when the page was written, and of the end of the run on the page of one. A copy that the next visit found unchanged was current all the time. One found changed or gone was current until a moment that may be any between the two visits. One not visited since counts by how often the page changed so far, over the rate of all pages (a Gamma prior of shape 1). Visits that were spared by Cache-Control or by a sitemap’s date count as visits; failed ones tell nothing.',
  ],
  ['Saved', 'is what the last full answer of a page took, less what was transferred this time.'],
] as const;

/** The facts after a single run: the answers, what is broken and where that is linked, where the pages are. */
import type { BrokenPage } from '../../graph/read-broken-pages.ts';
import { printable, showBytes, showCount, showMany } from '../../render/terminal-text.ts';
import { type ChangeFigures, RESPONSE_LIMITS_MS } from '../../store/change-figures.ts';
import { card, table } from './card.ts';
import { showShare } from './change-cards.ts';
import { drawBars } from './draw-bars.ts';
import { type Content, type Markup, tag } from './markup.ts';
import type { ReportFacts } from './report-facts.ts';

export interface Tile {
  label: string;
  value: string;
  note: string;
}

/** Of the visits: 200 to 299, 300 to 399, and so on. */
function visitsOfClass({ statuses }: ChangeFigures, hundreds: number): number {
  return statuses
    .filter(({ status }) => status !== null && Math.floor(status / 100) === hundreds)
    .reduce((sum, { visits }) => sum + visits, 0);
}

export function firstTiles({ figures, broken }: ReportFacts): Tile[] {
  const { visited, known, hosts, statuses, ledger, slowest } = figures;
  const answered = statuses.reduce((sum, { visits, isAsked }) => sum + (isAsked ? visits : 0), 0);
  const [ok, redirects] = [visitsOfClass(figures, 2), visitsOfClass(figures, 3)];
  const [refused, failed] = [visitsOfClass(figures, 4), visitsOfClass(figures, 5)];
  const bytes = ledger.reduce((sum, { wireBytes }) => sum + wireBytes, 0);
  const depths = figures.depths.flatMap(({ depth }) => (depth === null ? [] : [depth]));
  return [
    {
      label: 'pages',
      value: showCount(visited),
      note: `of ${showCount(known)} known, ${showMany(hosts, 'host')}`,
    },
    {
      label: 'answered 2xx',
      value: showCount(ok),
      note: answered === 0 ? '' : `${showShare(ok / answered)} of ${showMany(answered, 'visit')}`,
    },
    {
      label: 'broken',
      value: broken === null ? '–' : showCount(broken.total),
      note: `${showCount(refused)} answered 4xx, ${showCount(failed)} 5xx`,
    },
    {
      label: 'redirects',
      value: showCount(redirects),
      note: depths.length === 0 ? '' : `deepest page: depth ${Math.max(...depths)}`,
    },
    {
      label: 'answered in',
      value: medianWords(figures),
      note: slowest.length === 0 ? '' : `half of the pages; slowest ${showMs(slowest[0].longestMs)}`,
    },
    {
      label: 'transferred',
      value: showBytes(bytes),
      note: visited === 0 ? '' : showAverage(bytes, answered),
    },
  ];
}

const showAverage = (bytes: number, answers: number) =>
  answers === 0 ? '' : `${showBytes(Math.round(bytes / answers))} an answer`;

const showMs = (ms: number) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

function medianWords({ responses }: ChangeFigures): string {
  const all = responses.reduce((sum, { visits }) => sum + visits, 0);
  if (all === 0) return '–';
  let below = 0;
  for (const { band, visits } of [...responses].sort((a, b) => a.band - b.band)) {
    below += visits;
    if (below * 2 >= all)
      return band < RESPONSE_LIMITS_MS.length
        ? `< ${showMs(RESPONSE_LIMITS_MS[band])}`
        : `> ${showMs(RESPONSE_LIMITS_MS[band - 1])}`;
  }
  return '–';
}

/** URLs as text: the page sends no request, and nobody opens a broken page by accident. */
function brokenCell({ url, source }: BrokenPage): Content {
  const from =
    source === null
      ? 'a start URL, or named by a sitemap'
      : [source.isRedirect ? 'redirect of ' : 'linked from ', tag('bdi', {}, printable(source.url))];
  return [
    tag('span', { class: 'address' }, tag('bdi', {}, printable(url))),
    tag('span', { class: 'url', title: source?.url }, from),
  ];
}

/** The reason, if the status does not say it already. */
function answerCell({ statusCode, reason, state }: BrokenPage): Content {
  const said = reason ?? state;
  return [
    statusCode === null ? 'no answer' : String(statusCode),
    said === `http: ${statusCode}` ? '' : tag('span', { class: 'url' }, printable(said)),
  ];
}

/** Null: not known of this run, because a later one has visited pages again. */
export function drawBroken({ broken }: ReportFacts): Markup | null {
  if (broken === null) return null;
  const { total, shown } = broken;
  const left = total - shown.length;
  const rest = left > 0 ? ` The first ${shown.length} of them: sumi pages --broken lists all.` : '';
  const counted = shown.some(({ linkedFrom }) => linkedFrom !== null) ? ', those most linked to first' : '';
  return card(
    {
      id: 'broken',
      title: 'Broken pages',
      note:
        total === 0
          ? 'Every page that was asked for answered.'
          : `${showMany(total, 'URL')} not found, gone, failed or not reached${counted}.${rest}`,
      size: 'wide',
    },
    ...(total === 0
      ? []
      : [
          table(
            [{ title: 'page' }, { title: 'answer' }, { title: 'links to it', isNumber: true }],
            shown.map((page) => [
              brokenCell(page),
              answerCell(page),
              page.linkedFrom === null ? '' : showCount(page.linkedFrom),
            ]),
          ),
        ]),
  );
}

export function drawSections({ sections }: ChangeFigures): Markup {
  return card(
    { id: 'sections', title: 'Sections', note: 'Visited pages by the first folder of their path.' },
    drawBars(
      sections.map(({ name, pages }) => ({
        label: name === null ? 'all others' : printable(name),
        count: pages,
        tip: `${name === null ? 'all others' : printable(name)}\n${showMany(pages, 'page')}`,
      })),
      ['section', 'pages'],
    ),
  );
}

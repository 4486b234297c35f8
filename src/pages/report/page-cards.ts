/** The cards about pages and answers: statuses, errors, depths, times, lists, runs. */
import type { VisitOutcome } from '../../change/visit-record.ts';
import { showRate } from '../../render/describe-changes.ts';
import { describeUrls } from '../../render/describe-urls.ts';
import { printable, showBytes, showCount, showMany, showSeconds } from '../../render/terminal-text.ts';
import {
  type ChangeFigures,
  MOST_RUNS,
  RESPONSE_LIMITS_MS,
  type RunFigures,
} from '../../store/change-figures.ts';
import { card, table } from './card.ts';
import { drawBars } from './draw-bars.ts';
import { type Content, type Markup, tag } from './markup.ts';
import type { ReportFacts } from './report-facts.ts';
import { showDay, showMoment } from './time-words.ts';

const STATUS_WORDS: Record<number, string> = {
  200: 'OK',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  410: 'Gone',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

const MOST_STATUSES = 14;

export function drawStatuses({ statuses }: ChangeFigures): Markup {
  const all = statuses.reduce((sum, { visits }) => sum + visits, 0);
  const bars = statuses.map(({ status, isAsked, visits }) => {
    const words =
      status === null ? (isAsked ? 'no answer' : 'not asked') : `${status} ${STATUS_WORDS[status] ?? ''}`;
    return {
      label: words.trim(),
      count: visits,
      kind: statusKind(status, isAsked),
      tip: `${words.trim()}\n${showMany(visits, 'visit')}, ${((visits / all) * 100).toFixed(1)} %`,
    };
  });
  const shown = bars.sort((a, b) => b.count - a.count).slice(0, MOST_STATUSES);
  const left = bars.slice(MOST_STATUSES).reduce((sum, { count }) => sum + count, 0);
  if (left > 0)
    shown.push({
      label: 'all others',
      count: left,
      kind: 'plain',
      tip: `all others\n${showMany(left, 'visit')}`,
    });
  return card(
    { id: 'statuses', title: 'Answers', note: `HTTP status of ${showMany(all, 'visit')}.` },
    drawBars(shown, ['status', 'visits']),
  );
}

function statusKind(status: number | null, isAsked: boolean): string {
  if (status === null) return isAsked ? 'failed' : 'unchanged';
  if (status >= 500) return 'failed';
  if (status >= 400) return 'gone';
  return status >= 300 ? 'unchanged' : 'plain';
}

/** The facts of a page are those of its last visit. */
const VISITED_SINCE = 'A later run has visited pages again: this is of those it left.';

export function drawErrors({ errors, top_errors, is_latest }: ReportFacts['state'], isRun: boolean): Markup {
  const some = `${showMany(errors, 'error')} ${isRun ? 'after the run' : 'now'}, by reason.`;
  const found = errors === 0 ? 'There are no errors.' : some;
  const note = is_latest ? found : `${found} ${VISITED_SINCE}`;
  const shown = top_errors.reduce((sum, { pages }) => sum + pages, 0);
  return card(
    { id: 'errors', title: 'Errors', note },
    ...(errors === 0
      ? []
      : [
          drawBars(
            [
              ...top_errors.map(({ reason, pages, example }) => ({
                label: printable(reason),
                count: pages,
                kind: 'gone',
                tip: `${printable(reason)}\n${showMany(pages, 'page')}\nas ${printable(example)}`,
              })),
              ...(shown < errors ? [{ label: 'all others', count: errors - shown, kind: 'plain' }] : []),
            ],
            ['reason', 'pages'],
          ),
        ]),
  );
}

export function drawStates(state: ReportFacts['state']): Markup {
  const bars = Object.entries(state.pages_by_state).map(([name, count]) => ({
    label: name,
    count,
    tip: `${name}\n${showMany(count, 'URL')}`,
  }));
  return card(
    {
      id: 'states',
      title: 'Known URLs',
      note: state.is_latest ? `${describeUrls(state)}.` : VISITED_SINCE,
      size: 'third',
    },
    drawBars(bars, ['state', 'URLs']),
  );
}

export function drawResponses({ responses }: ChangeFigures): Markup {
  const counts = Array.from({ length: RESPONSE_LIMITS_MS.length + 1 }, () => 0);
  for (const { band, visits } of responses) counts[band] = visits;
  const all = counts.reduce((sum, count) => sum + count, 0);
  let below = 0;
  const median = counts.findIndex((count) => {
    below += count;
    return below * 2 >= all;
  });
  const note =
    all === 0
      ? 'No answer was timed.'
      : `Of ${showMany(all, 'visit')}; half took ${median < RESPONSE_LIMITS_MS.length ? `under ${showMs(RESPONSE_LIMITS_MS[median])}` : `${showMs(RESPONSE_LIMITS_MS.at(-1)!)} and more`}.`;
  return card(
    { id: 'responses', title: 'Response times', note, size: 'third' },
    drawBars(
      counts.map((count, band) => ({
        label: bandWords(band),
        count,
        tip: `${bandWords(band)}\n${showMany(count, 'visit')}${all > 0 ? `, ${((count / all) * 100).toFixed(1)} %` : ''}`,
      })),
      ['time', 'visits'],
    ),
  );
}

const showMs = (ms: number) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

function bandWords(band: number): string {
  if (band === RESPONSE_LIMITS_MS.length) return `over ${showMs(RESPONSE_LIMITS_MS[band - 1])}`;
  return `under ${showMs(RESPONSE_LIMITS_MS[band])}`;
}

const MOST_DEPTHS = 12;

export function drawDepths({ depths }: ChangeFigures): Markup {
  const counts = new Map<string, number>();
  for (const { depth, pages } of depths) {
    const label =
      depth === null ? 'not linked' : depth >= MOST_DEPTHS ? `${MOST_DEPTHS} and deeper` : String(depth);
    counts.set(label, (counts.get(label) ?? 0) + pages);
  }
  return card(
    {
      id: 'depths',
      title: 'Depth',
      note: 'Visited pages, by how many links they are from a start.',
      size: 'third',
    },
    drawBars(
      [...counts].map(([label, count]) => ({
        label,
        count,
        tip: `${label === 'not linked' ? label : `depth ${label}`}\n${showMany(count, 'page')}`,
      })),
      ['depth', 'pages'],
    ),
  );
}

/** Its address for people, without the part that all pages of the list share. Not a link: the page sends no request. */
function pageCell(url: string, title: string | null): Content {
  const [, host, path] = /^https?:\/\/([^/]*)(.*)$/.exec(url) ?? ['', '', '', url];
  const shown = printable(title ?? '') || '(no title)';
  return [
    tag('span', { class: 'title', title: shown }, tag('bdi', {}, shown)),
    tag('span', { class: 'url', title: url }, tag('bdi', {}, `${host}${path}`)),
  ];
}

export function drawChanging({ changing }: ChangeFigures, isCleared: boolean): Markup {
  return card(
    { id: 'changing', title: 'Most changing pages', note: 'By the changes that visits found.' },
    changing.length === 0
      ? tag(
          'p',
          { class: 'empty' },
          isCleared ? 'No changes are kept.' : 'No page has been seen to change yet.',
        )
      : table(
          [
            { title: 'page' },
            { title: 'changes', isNumber: true },
            { title: 'visits', isNumber: true },
            { title: 'a day', isNumber: true },
            { title: 'last', isNumber: true },
          ],
          changing.map(({ url, title, changes, visits, changeFrequency, lastChangeAt }) => [
            pageCell(url, title),
            showCount(changes),
            showCount(visits),
            showRate(changeFrequency),
            showDay(lastChangeAt),
          ]),
        ),
  );
}

export function drawSlowest({ slowest }: ChangeFigures): Markup {
  return card(
    { id: 'slowest', title: 'Slowest pages', note: 'By the average time of their answers.' },
    slowest.length === 0
      ? tag('p', { class: 'empty' }, 'No answer was timed.')
      : table(
          [
            { title: 'page' },
            { title: 'average', isNumber: true },
            { title: 'longest', isNumber: true },
            { title: 'visits', isNumber: true },
          ],
          slowest.map(({ url, title, averageMs, longestMs, visits }) => [
            pageCell(url, title),
            showMs(averageMs),
            showMs(longestMs),
            showCount(visits),
          ]),
        ),
  );
}

const RUN_OUTCOMES: readonly VisitOutcome[] = ['new', 'changed', 'unchanged', 'gone', 'failed'];

export function drawRuns(runs: readonly RunFigures[]): Markup {
  return card(
    {
      id: 'runs',
      title: 'Runs',
      note: runs.length < MOST_RUNS ? 'Newest first.' : `The last ${MOST_RUNS}, newest first.`,
      size: 'wide',
    },
    table(
      [
        { title: 'run', isNumber: true },
        { title: 'started' },
        { title: 'took', isNumber: true },
        { title: 'mode' },
        { title: 'status' },
        ...RUN_OUTCOMES.map((title) => ({ title, isNumber: true as const })),
        { title: 'requests', isNumber: true },
        { title: 'transferred', isNumber: true },
        { title: 'saved', isNumber: true },
      ],
      runs.map((run) => [
        run.run,
        showMoment(run.startedAt),
        run.finishedAt === null ? '' : showSeconds(Math.max(0, run.finishedAt - run.startedAt) / 1000),
        run.mode ?? '',
        run.status,
        ...RUN_OUTCOMES.map((outcome) => showCount(run.outcomes[outcome])),
        showCount(run.requests),
        showBytes(run.bytes),
        showBytes(run.bytesSaved),
      ]),
    ),
  );
}

/** An explanation as text for people. */
import type { Explanation } from '../project/explain-page.ts';
import type { LoggedRequest, VisitRow } from '../store/read-side.ts';
import type { RevisitExplanation } from '../watch/explain-revisit.ts';
import type { ForeseenVisit, WaitsFor } from '../watch/foresee-visit.ts';
import { describeChanges, showRate } from './describe-changes.ts';
import { stateColour } from './state-colour.ts';
import { type Paint, printable, showBytes, showCount, showMany } from './terminal-text.ts';

const LABEL_WIDTH = 12;

/** `now`: wall time of the question. */
export function renderExplanation(page: Explanation, now: number, paint: Paint): string {
  const lines: string[] = [paint('bold', printable(page.url))];
  const add = (label: string, ...texts: string[]) => {
    for (const [i, text] of texts.entries())
      lines.push(`  ${(i === 0 ? label : '').padEnd(LABEL_WIDTH)}${printable(text)}`);
  };
  const colour = stateColour(page.state as Parameters<typeof stateColour>[0]);
  const state = colour === null ? page.state : paint(colour, page.state);
  lines.push(`  ${'state'.padEnd(LABEL_WIDTH)}${state}`);
  add('reason', page.reason === null ? noReason(page) : page.reason);
  if (page.left_out !== null) add('left out', leftOutText(page.left_out));
  if (page.fetch_url !== page.url) add('asked as', page.fetch_url);
  add('project', page.project);
  add('depth', page.depth === null ? 'not known' : String(page.depth));
  add('found', `in run ${page.discovered_run} at ${page.discovered_at}`);
  add('way here', ...wayTo(page).map(arrow));
  if (page.title !== null) add('title', page.title);
  if (page.redirects.length > 0) add('redirects', ...page.redirects.map((url) => `→ ${url}`));
  else if (page.final_url !== null) add('redirects', `→ ${page.final_url}`);
  add('robots.txt', robotsText(page.robots));
  const { requests, visits } = page;
  add(
    'requests',
    ...earlier(page.requests_total, requests),
    ...requests.map((request, at) => requestText(request, requests[at + 1])),
  );
  if (requests.length === 0) add('requests', noRequests(page));
  if (visits.length > 0) add('visits', ...earlier(page.visits_total, visits), ...visits.map(visitText));
  if (page.revisit !== null) add('revisit', ...revisitTexts(page.revisit, page, now));
  if (page.retry_at !== null) add('next try', `${page.retry_at}, after ${page.attempts} failed`);
  return lines.join('\n');
}

function leftOutText({ run, reason, known_from_run: from }: NonNullable<Explanation['left_out']>): string {
  const known = from === null ? 'known from an earlier run' : `known from run ${from}`;
  return `${known}; run ${run} left it out: ${reason.replace(/^limit: /, '')}`;
}

/** Only start URLs are at depth 0. Another page without a referrer was named by a sitemap or feed. */
function wayTo({ referrers, fetch_url, depth }: Explanation): string[] {
  if (referrers.length > 0) return [...referrers, fetch_url];
  return [depth === 0 ? 'a start URL' : 'named by a sitemap or feed'];
}

const earlier = (total: number, shown: readonly unknown[]) =>
  total > shown.length ? [`${showCount(total - shown.length)} earlier`] : [];

function visitText(visit: VisitRow): string {
  const answer = visit.status_code === null ? 'no answer' : String(visit.status_code);
  const saved = visit.bytes_saved > 0 ? `, ${showBytes(visit.bytes_saved)} saved` : '';
  return `${visit.visited_at}  run ${visit.run}  ${visit.outcome}, known by ${visit.known_by}  ${answer}${saved}`;
}

function revisitTexts(revisit: RevisitExplanation, page: Explanation, now: number): string[] {
  const { rule, rate_per_day, interval_days, next_visit, chance_changed, score, band } = revisit;
  const texts = [
    `by ${rule}${planText(revisit)}`,
    describeChanges(page),
    `expected: about ${showRate(rate_per_day)} changes a day`,
  ];
  if (interval_days !== null) texts.push(`every ${showDays(interval_days)} at this rate`);
  if (revisit.watch !== null) texts.push(...watchTexts(revisit.watch, now));
  else if (next_visit !== null) {
    const when = Date.parse(next_visit) <= now ? 'due since' : 'next at';
    const hasFailed = page.visits.at(-1)?.outcome === 'failed';
    // Otherwise the interval above would seem to contradict.
    const why = page.state === 'Gone' ? ', for it is gone' : hasFailed ? ', for the last visit failed' : '';
    texts.push(`${when} ${next_visit}${why}`);
  }
  if (chance_changed !== null)
    texts.push(`changed since the last visit with a chance of ${(100 * chance_changed).toFixed(1)} %`);
  if (revisit.is_signalled) texts.push('a sitemap has a newer date than the last visit');
  if (score !== null)
    texts.push(
      `priority ${score.toFixed(2)}${partsText(revisit)}: highest first, so other pages may move its visit`,
    );
  if (band !== null) texts.push(`band: ${band}`);
  return texts;
}

const WAITS_FOR: Record<WaitsFor, string> = {
  hours: 'before that no tick is made: its --hours are over',
  pause: 'until then its host asked to be left alone, or is left alone for want of an answer',
  silence: 'until then others go first: its host did not answer when it was last asked',
  'host budget': 'until then the budget of its host (--host-budget) goes to other pages',
  budget: 'until then the budget (--budget) goes to pages that come before it',
  'its time': 'until then it is left alone: it was visited, or tried in vain, a short time ago',
};

/** What the running watch will do. */
function watchTexts(watch: ForeseenVisit, now: number): string[] {
  const every = showDays(watch.every_ms / 86_400_000).replace(/^1 (\w+)s$/, '$1');
  const { visit_at, ticks, waits_for, next_tick, last_tick } = watch;
  if (ticks === 0) return ['the watch is visiting it now'];
  const waits = waits_for === null ? [] : [WAITS_FOR[waits_for]];
  if (visit_at === null)
    return [
      `the watch that is at work (a tick every ${every}) visits it in none of its next ${showCount(ticks)} ticks, until ${last_tick}`,
      ...waits,
    ];
  const which = visit_at === next_tick ? 'its next tick' : `its tick number ${showCount(ticks)} from now`;
  const isLate = Date.parse(next_tick) <= now ? ', which is about to begin' : '';
  return [
    `the watch that is at work (a tick every ${every}) visits it at ${visit_at}, ${which}${ticks === 1 ? isLate : ''}`,
    ...waits,
  ];
}

function planText({ is_watched, visits_per_day }: RevisitExplanation): string {
  if (visits_per_day === null) return is_watched ? '' : '; not watched yet: as sumi watch would plan it';
  const how = `as sumi watch would plan it with ${showMany(visits_per_day, 'visit')} a day (--budget)`;
  return is_watched ? `: ${how}` : `; not watched yet: ${how}`;
}

function partsText({ score_parts: parts }: RevisitExplanation): string {
  if (parts === null) return '';
  const { changes, waiting, depth, first } = parts;
  const texts = [
    `${changes.toFixed(2)} for its changes`,
    `${waiting.toFixed(2)} for the days since the last visit`,
    `${depth.toFixed(2)} for its depth`,
    ...(first > 0 ? [`${first} because it is new or a sitemap has a newer date`] : []),
  ];
  return ` (${texts.join(', ')})`;
}

function showDays(days: number): string {
  if (days >= 2) return `${Number(days.toPrecision(3))} days`;
  if (days >= 1 / 12) return `${Number((24 * days).toPrecision(3))} hours`;
  return days >= 1 / 1440
    ? `${Number((1440 * days).toPrecision(3))} minutes`
    : `${Number((86_400 * days).toPrecision(3))} seconds`;
}

function noReason({ state, status_code, requests }: Explanation): string {
  if (state === 'Queued') return 'in scope; waits for its turn';
  if (state === 'Fetching') return 'is being fetched';
  return status_code === null && requests.length === 0 ? 'none was noted' : 'in scope, fetched';
}

function noRequests({ visited_at }: Explanation): string {
  return visited_at === null ? 'none' : `none in the request log; the last was at ${visited_at}`;
}

function arrow(url: string, index: number): string {
  return `${'  '.repeat(Math.min(index, 10))}${index === 0 ? '' : '└ '}${url}`;
}

function robotsText({ decision, rule, status }: Explanation['robots']): string {
  if (decision === 'unknown') return 'not asked for';
  const because =
    rule === null
      ? status !== null && status >= 400
        ? `, http ${status}`
        : ', no line matches'
      : `, ${rule}`;
  return `${decision}${because}`;
}

function requestText(request: LoggedRequest, next: LoggedRequest | undefined): string {
  const answer = request.status_code === 0 ? (request.failure ?? 'no answer') : String(request.status_code);
  return `${request.sent_at}  run ${request.run}  ${request.kind} ${answer}  ${request.duration_ms} ms  ${showBytes(request.bytes)}${noteOn(request, next)}`;
}

/** Why the page was requested again at once. */
function noteOn({ kind, status_code, failure, run }: LoggedRequest, next: LoggedRequest | undefined): string {
  if (failure === 'not-taken') return '  (the server had closed the connection: sent once more)';
  const isHeadRefusal = kind === 'HEAD' && [0, 404, 410].includes(status_code);
  const isChecked = isHeadRefusal && next?.kind === 'GET' && next.run === run;
  return isChecked ? '  (asked by GET, too: it is not known yet whether this host answers HEAD well)' : '';
}

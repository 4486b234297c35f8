/** The progress of a crawl as lines for people: the live block, the line for logs, a page, a host. Pure text. */
import type {
  FaultEvent,
  HostEvent,
  PageEvent,
  ProgressEvent,
  ReadingSitemap,
  RunEvent,
  SitemapEvent,
  WaitingFor,
} from '../events/events.ts';
import { type Paint, pad, printable, showCount, showMany, showSeconds } from './terminal-text.ts';

const BAR_WIDTH = 24;

export function renderStart(event: RunEvent, paint: Paint): string {
  const what = event.resumed ? 'continues' : 'starts';
  const known = event.known_urls > 0 ? `, ${showMany(event.known_urls, 'URL')} known` : '';
  return `${paint('bold', `sumi ${what} run ${event.run}`)} of ${printable(event.project)}${known}`;
}

/** Null when nothing changed. */
export function renderConfigChange(event: RunEvent, paint: Paint): string | null {
  if (!event.config_changed) return null;
  const before = event.resumed ? 'this run began' : 'the last run was made';
  return paint(
    'yellow',
    `The options differ from those with which ${before}: the new rules are applied to all known URLs.`,
  );
}

export function renderBlock(
  progress: ProgressEvent,
  elapsedSeconds: number,
  currentUrl: string | null,
  paint: Paint,
): string[] {
  const filled = Math.round((progress.percent / 100) * BAR_WIDTH);
  const bar = paint('cyan', '█'.repeat(filled)) + paint('dim', '░'.repeat(BAR_WIDTH - filled));
  const percent = `${progress.percent.toFixed(1)} %`.padStart(7);
  const lines = [
    `${bar} ${percent}  ${showSeconds(elapsedSeconds)}${left(progress)}`,
    `${paint('bold', showMany(progress.pages, 'page'))} · ${progress.pages_per_second}/s · ${showCount(progress.waiting)} waiting · ${hosts(progress)} · ${errors(progress, paint)}`,
  ];
  const waiting = renderWaiting(progress);
  if (waiting !== null) lines.push(paint('yellow', waiting));
  else if (currentUrl !== null) lines.push(paint('dim', printable(currentUrl)));
  return lines;
}

export function renderProgressLine(progress: ProgressEvent, elapsedSeconds: number): string {
  const plain: Paint = (_, text) => text;
  return (
    `${showSeconds(elapsedSeconds)}: ${showMany(progress.pages, 'page')}, ${progress.pages_per_second}/s, ` +
    `${showCount(progress.waiting)} waiting, ${hosts(progress)}, ${errors(progress, plain)}, ` +
    `${progress.percent.toFixed(1)} %${left(progress)}${waits(progress)}`
  );
}

function waits(progress: ProgressEvent): string {
  const waiting = renderWaiting(progress);
  return waiting === null ? '' : `; ${waiting}`;
}

/** What the crawl waits for; null while pages are read. */
function renderWaiting({ waiting_for: wait }: ProgressEvent): string | null {
  if (wait === null) return null;
  const next = wait.in_seconds === null ? '' : ` in ${roundSeconds(Math.max(1, Math.ceil(wait.in_seconds)))}`;
  const text = reasonText(wait, printable(wait.host ?? ''), next);
  return wait.sitemap === null || wait.why === 'robots' ? text : `${text} (${sitemapText(wait.sitemap)})`;
}

function reasonText({ why, seconds, status, detail }: WaitingFor, host: string, next: string): string {
  const delay = seconds === null ? '' : ` ${roundSeconds(seconds)}`;
  switch (why) {
    case 'delay':
      return `waiting for the delay of${delay} between requests to ${host}, next request${next}`;
    case 'crawl-delay':
      return `waiting for Crawl-delay${delay} of ${host}, next request${next}`;
    case 'learned-delay':
      return `${host} is slow or refuses more: one request in${delay}, next request${next}`;
    case 'blocked':
      return `${host} ${status === null ? 'asked to be left alone' : `answered ${status}`}, next request${next}`;
    case 'silence':
      return `${host} does not answer, next try${next}`;
    case 'robots':
      return status === null
        ? `robots.txt of ${host} cannot be had (${printable(detail ?? 'no answer')}), next try${next}`
        : `robots.txt of ${host} answered ${status}, next try${next}`;
    case 'retry':
      return `waiting to ask ${host} once more for a page that failed, next try${next}`;
    case 'answer':
      return `waiting for an answer of ${host} since${delay}`;
    case 'workers':
      return 'waiting for other workers, which have all hosts of this run';
  }
}

function roundSeconds(seconds: number): string {
  return seconds < 10 ? `${Number(seconds.toFixed(1))} s` : showSeconds(seconds);
}

function sitemapText({ url, nth, of, is_guess }: ReadingSitemap): string {
  if (is_guess) return `looking for a sitemap at ${printable(new URL(url).pathname)}`;
  return `reading sitemap ${showCount(nth)} of ${showCount(of)}`;
}

function left({ seconds_left }: ProgressEvent): string {
  return seconds_left === null ? '' : `, about ${showSeconds(seconds_left)} left`;
}

function hosts({ hosts_active, hosts_cooling }: ProgressEvent): string {
  const cooling = hosts_cooling > 0 ? ` (${showCount(hosts_cooling)} cooling)` : '';
  return `${showMany(hosts_active + hosts_cooling, 'host')}${cooling}`;
}

function errors({ errors }: ProgressEvent, paint: Paint): string {
  const text = showMany(errors, 'error');
  return errors > 0 ? paint('yellow', text) : text;
}

export function renderPage(event: PageEvent, paint: Paint): string {
  const isGood = event.state === 'Processed';
  const status = pad(event.status_code === null ? '–' : String(event.status_code), 3);
  const state = paint(isGood ? 'green' : 'yellow', pad(event.state, 9));
  const about = isGood ? event.title : event.reason;
  const links = event.links > 0 ? paint('dim', `  (${showMany(event.links, 'link')})`) : '';
  const known =
    event.known_by !== null && event.outcome !== 'new'
      ? paint('dim', `  ${event.outcome} (${event.known_by})`)
      : '';
  return `${status} ${state} ${printable(event.url)}${known}${about ? paint('dim', `  ${printable(about)}`) : ''}${links}`;
}

export function renderSitemap({ url, kind, entries, problem }: SitemapEvent, paint: Paint): string {
  const found = kind === null ? '' : `${kind}, ${showMany(entries, 'entry', 'entries')}`;
  const said = [found, problem === null ? '' : printable(problem)].filter((text) => text !== '').join('; ');
  return paint('dim', `sitemap ${printable(url)}: ${said}`);
}

export function renderHost(event: HostEvent, paint: Paint): string {
  const until = event.until === null ? '' : ` until ${new Date(event.until).toISOString()}`;
  return paint('dim', `host ${event.host}: ${event.what} ${printable(event.detail)}${until}`);
}

/** A defect of the program, with everything that is needed to report it. */
export function renderFault({ url, reason, stack }: FaultEvent, paint: Paint): string {
  const lines = stack.split('\n').map((line) => paint('dim', `    ${printable(line.trim())}`));
  return [paint('yellow', `defect at ${printable(url)}: ${printable(reason)}`), ...lines].join('\n');
}

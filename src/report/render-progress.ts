/** How far a crawl is, as lines for people: the live block, the line for logs, a page, a host. Pure text. */
import type { FaultEvent, HostEvent, PageEvent, ProgressEvent, RunEvent, SitemapEvent } from './events.ts';
import { type Paint, pad, printable, showCount, showMany, showSeconds } from './terminal-text.ts';

const BAR_WIDTH = 24;

export function renderStart(event: RunEvent, paint: Paint): string {
  const what = event.resumed ? 'goes on with' : 'starts';
  const known = event.known_urls > 0 ? `, ${showMany(event.known_urls, 'URL')} known` : '';
  return `${paint('bold', `sumi ${what} run ${event.run}`)} of ${printable(event.project)}${known}`;
}

/** Null when nothing changed. */
export function renderConfigChange(event: RunEvent, paint: Paint): string | null {
  if (!event.config_changed) return null;
  const before = event.resumed ? 'this run began' : 'the last run was made';
  return paint(
    'yellow',
    `The options differ from those with which ${before}: known URLs are put before the new rules.`,
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
  if (currentUrl !== null) lines.push(paint('dim', printable(currentUrl)));
  return lines;
}

export function renderProgressLine(progress: ProgressEvent, elapsedSeconds: number): string {
  const plain: Paint = (_, text) => text;
  return (
    `${showSeconds(elapsedSeconds)}: ${showMany(progress.pages, 'page')}, ${progress.pages_per_second}/s, ` +
    `${showCount(progress.waiting)} waiting, ${hosts(progress)}, ${errors(progress, plain)}, ` +
    `${progress.percent.toFixed(1)} %${left(progress)}`
  );
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

/** A defect of the program, with all that is needed to report it. */
export function renderFault({ url, reason, stack }: FaultEvent, paint: Paint): string {
  const lines = stack.split('\n').map((line) => paint('dim', `    ${printable(line.trim())}`));
  return [paint('yellow', `defect at ${printable(url)}: ${printable(reason)}`), ...lines].join('\n');
}

/** The report of a run as text for people. */

import type { FullReport } from '../project/report-on-run.ts';
import type { DomainFigures } from '../store/run-report.ts';
import { describeUrls } from './describe-urls.ts';
import { clearedText } from './render-audit.ts';
import { renderCounts } from './render-summary.ts';
import { type Column, layOutTable } from './render-table.ts';
import { type Paint, printable, showBytes, showCount, showMany, showSeconds } from './terminal-text.ts';

const DOMAINS_SHOWN = 10;
const LABEL_WIDTH = 16;

const DOMAIN_COLUMNS: readonly Column<DomainFigures>[] = [
  { title: 'host', value: (row) => row.host, shrinksTo: 20 },
  { title: 'requests', value: (row) => showCount(row.requests), align: 'right' },
  { title: 'for pages', value: (row) => showCount(row.page_requests), align: 'right' },
  { title: 'failed', value: (row) => showCount(row.failed_requests), align: 'right' },
  { title: 'bytes', value: (row) => showBytes(row.bytes), align: 'right' },
  { title: 'delay', value: (row) => `${row.delay} s`, align: 'right' },
  {
    title: 'Crawl-delay',
    value: (row) => (row.robots_delay === null ? '' : `${row.robots_delay} s`),
    align: 'right',
  },
  { title: 'robots.txt', value: (row) => row.robots_status ?? 'not asked', align: 'right' },
];

/** `width`: of the terminal; null if nothing is to be cut. */
export function renderReport(report: FullReport, paint: Paint, width: number | null): string {
  const { statistics } = report;
  const section = (title: string, counts: Record<string, number>) =>
    Object.keys(counts).length === 0
      ? []
      : ['', paint('bold', title), ...renderCounts(mapKeys(counts, printable))];
  return [
    ...renderHead(report, paint),
    ...section('Known URLs by state', statistics.pages_by_state),
    ...section('HTTP status of page requests (0: no answer)', statistics.status_codes),
    ...renderLedger(report, paint),
    ...section('Content types', statistics.content_types),
    ...section('Requests', statistics.requests_by_kind),
    ...section('Waiting, by priority', statistics.queued_by_priority),
    ...renderDomains(report, paint, width),
    ...renderErrors(report, paint),
    ...renderDeepest(report, paint),
    ...renderConfiguration(report, paint),
  ].join('\n');
}

function renderHead(report: FullReport, paint: Paint): string[] {
  const { statistics, politeness } = report;
  const line = (label: string, text: string) => `  ${label.padEnd(LABEL_WIDTH)}${text}`;
  const violations = showMany(politeness.violations, 'violation');
  const restarts =
    politeness.restarts === 0 ? '' : `; ${showMany(politeness.restarts, 'host')} rested after a restart`;
  const rate = report.pages_per_second > 0 ? ` (${report.pages_per_second.toFixed(1)}/s)` : '';
  return [
    paint('bold', `Run ${report.run} of ${printable(report.project)}: ${report.status}`),
    ...(report.error === null ? [] : [line('error', printable(report.error))]),
    line('started', report.started_at),
    line('finished', report.finished_at ?? 'not yet'),
    line('duration', showSeconds(report.duration_seconds)),
    ...Object.entries(report.metadata ?? {}).map(([name, text]) =>
      line(printable(name).slice(0, LABEL_WIDTH - 1), printable(text)),
    ),
    line('pages', `${showCount(report.pages)}${rate}`),
    line('transferred', `${showBytes(report.bytes)} in ${showMany(report.requests, 'request')}`),
    ...(report.mode === null ? [] : [line('mode', printable(withReason(report)))]),
    ...(report.bytes_saved > 0 ? [line('saved', showBytes(report.bytes_saved))] : []),
    line('hosts visited', showCount(statistics.hosts_visited)),
    line('retries', showCount(statistics.retries)),
    line('URLs', describeUrls(statistics)),
    ...(report.left_out > 0
      ? [line('left out', `${showMany(report.left_out, 'known page')}, not visited in this run`)]
      : []),
    line('robots denials', showMany(statistics.robots_denials, 'URL')),
    line(
      'bodies stored',
      `${showCount(statistics.bodies_stored)}, ${showCount(statistics.distinct_bodies)} distinct`,
    ),
    line('politeness', paint(politeness.violations === 0 ? 'green' : 'red', violations) + restarts),
    ...(politeness.cleared_until === null
      ? []
      : [
          line('', clearedText(politeness.cleared_until)),
          line('', 'Hosts, retries, statuses and requests by kind are those of what is left.'),
        ]),
    ...(report.is_latest
      ? []
      : [line('', 'A later run has visited pages again: states are of those it left.')]),
  ];
}

const withReason = ({ mode, mode_reason: reason }: FullReport) =>
  reason === null || reason === '' ? `${mode}` : `${mode} (${reason})`;

/** A first run found only new pages, which says nothing. */
function renderLedger({ ledger, outcomes }: FullReport, paint: Paint): string[] {
  if (ledger.every(({ outcome }) => outcome === 'new' || outcome === 'failed')) return [];
  const shown = ledger.map(({ outcome, known_by, visits, bytes_saved }) => ({
    words: `${outcome}, by ${known_by}`,
    visits,
    saved: bytes_saved > 0 ? `, ${showBytes(bytes_saved)} saved` : '',
  }));
  const width = Math.max(...shown.map(({ words }) => words.length));
  const visits = Object.values(outcomes).reduce((sum, n) => sum + n, 0);
  return [
    '',
    paint('bold', `What ${showMany(visits, 'visit')} found, and how it was known`),
    ...shown.map(
      ({ words, visits: n, saved }) => `  ${words.padEnd(width)}  ${showCount(n).padStart(9)}${saved}`,
    ),
  ];
}

function renderDomains({ domains, statistics }: FullReport, paint: Paint, width: number | null): string[] {
  if (domains.length === 0) return [];
  const shown = domains.slice(0, DOMAINS_SHOWN);
  const table = layOutTable(DOMAIN_COLUMNS, shown, width === null ? null : width - 2, paint);
  const left = statistics.hosts_visited - shown.length;
  return [
    '',
    paint('bold', 'Hosts with most requests'),
    ...[table.head, ...shown.map((row) => table.line(row))].map((text) => `  ${text}`),
    ...(left > 0 ? [`  … and ${showMany(left, 'more', 'more')} (--json gives up to 1,000)`] : []),
  ];
}

function renderErrors({ top_errors, statistics }: FullReport, paint: Paint): string[] {
  if (top_errors.length === 0) return [];
  return [
    '',
    paint('bold', `${showMany(statistics.errors, 'error')}, most frequent reasons`),
    ...top_errors.map(
      ({ reason, pages, example }) =>
        `  ${showMany(pages, 'URL')}  ${printable(reason)}  as ${printable(example)}`,
    ),
  ];
}

function renderDeepest({ deepest_pages }: FullReport, paint: Paint): string[] {
  if (deepest_pages.length === 0) return [];
  return [
    '',
    paint('bold', 'Deepest pages'),
    ...deepest_pages.map(
      ({ url, depth, state }) => `  ${String(depth).padStart(3)}  ${state}  ${printable(url)}`,
    ),
  ];
}

function renderConfiguration({ configuration }: FullReport, paint: Paint): string[] {
  const entries = Object.entries(configuration);
  const width = Math.max(...entries.map(([name]) => name.length));
  return [
    '',
    paint('bold', 'Configuration'),
    ...entries.map(([name, value]) => `  ${name.padEnd(width)}  ${printable(showOption(value))}`),
  ];
}

function showOption(value: unknown): string {
  if (value === null) return 'none';
  return Array.isArray(value) ? value.join(' ') : String(value);
}

function mapKeys(counts: Record<string, number>, change: (key: string) => string): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([key, n]) => [change(key), n]));
}

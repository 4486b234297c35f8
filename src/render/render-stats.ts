/** The contents of a store, as text for people. */
import type { StoreDescription } from '../project/describe-store.ts';
import { describeUrls } from './describe-urls.ts';
import { renderCounts } from './render-summary.ts';
import { type Paint, printable, showBytes, showMany } from './terminal-text.ts';

export function renderStats(store: StoreDescription, paint: Paint): string {
  const { file, projects, runs, last_run: last } = store;
  const section = (title: string, counts: Record<string, number>) =>
    Object.keys(counts).length === 0 ? [] : ['', paint('bold', title), ...renderCounts(counts)];
  const lines = [
    `${paint('bold', file)}: ${showMany(store.known_urls, 'known URL')} on ${showMany(store.hosts, 'host')}, ` +
      `${showMany(store.links, 'link')}, ${showBytes(store.bytes)} in ${showMany(store.requests, 'request')}`,
    `${showMany(projects.length, 'project')}: ${projects.map(printable).join(', ')}`,
    last === null ? 'no runs' : `${showMany(runs, 'run')}, the last one (${last.run}) ${last.status}`,
    `${describeUrls(store)}.`,
    ...section('States', store.by_state),
    ...section('HTTP status', store.by_status),
    ...section('Content types', store.by_content_type),
    ...section('Depth', store.by_depth),
    ...section(
      'Most frequent reasons',
      Object.fromEntries(Object.entries(store.by_reason).map(([reason, n]) => [printable(reason), n])),
    ),
  ];
  return lines.join('\n');
}

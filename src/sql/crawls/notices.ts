/** What a person should hear of a CRAWL beside its result. */
import type { CrawlPlan } from './plan-crawl.ts';
import type { RowSink } from './row-sink.ts';

const MOST_TOLD = 3;

export function noticesOfPlan({ target, input }: Pick<CrawlPlan, 'target' | 'input'>): string[] {
  const lines: string[] = [];
  if (target.missing.length > 0)
    lines.push(
      `The table ${target.name} has no column ${target.missing.join(', ')}: these values are not kept.`,
    );
  if (input.empty > 0)
    lines.push(`${input.empty} ${input.empty === 1 ? 'row' : 'rows'} of the input left out: NULL or empty.`);
  return lines;
}

export function noticesOfRows(
  { target }: Pick<CrawlPlan, 'target'>,
  { refused, refusedCount }: Pick<RowSink, 'refused' | 'refusedCount'>,
): string[] {
  if (refusedCount === 0) return [];
  const shown = refused.slice(0, MOST_TOLD).map(({ url, error }) => `  ${url}: ${error}`);
  const rest = refusedCount - shown.length;
  return [
    `The table ${target.name} refused ${refusedCount} ${refusedCount === 1 ? 'row' : 'rows'}:`,
    ...shown,
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ];
}

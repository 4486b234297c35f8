/**
 * Which runs go on when somebody begins again. `sumi sitemap` keeps its requests in a run of its own, in which no page is
 * visited: however it was left, nobody goes on with it.
 */
const SITEMAP_COMMAND = 'sitemap';

/** The notes of such a run. */
export const LOOKUP_NOTES = JSON.stringify({ command: SITEMAP_COMMAND });

export function isCrawl({ metadata }: { metadata: string | null }): boolean {
  return metadata === null || (JSON.parse(metadata) as { command?: unknown }).command !== SITEMAP_COMMAND;
}

export function isUnfinished(run: { status: string; metadata: string | null }): boolean {
  return (run.status === 'running' || run.status === 'interrupted') && isCrawl(run);
}

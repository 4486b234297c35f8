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

/** Of the first crawl of a watch, which is left as an interrupted run at its limit, and goes on when there is room again. */
export const PAUSING_NOTE = 'watch=first';

/** Whoever takes part in such a run leaves it to whoever began it. */
export function pausesAtLimit({ metadata }: { metadata: string | null }): boolean {
  const [name, value] = PAUSING_NOTE.split('=');
  return metadata !== null && (JSON.parse(metadata) as Record<string, unknown>)[name] === value;
}

/** Of a run that nobody may take part in: its limits are kept by whoever began it, and are known to nobody else. */
export const ALONE_NOTE = 'watch-alone=yes';

export function isForOne({ metadata }: { metadata: string | null }): boolean {
  return metadata !== null && ALONE_NOTE.split('=')[0] in JSON.parse(metadata);
}

const UNFINISHED: ReadonlySet<string> = new Set(['running', 'paused', 'interrupted']);

export function isUnfinished(run: { status: string; metadata: string | null }): boolean {
  return UNFINISHED.has(run.status) && isCrawl(run);
}

/**
 * Changes as an Atom feed (RFC 4287), written while they are read. Ids stay the same whenever the feed is made; whatever a page
 * calls itself stays text; a URL becomes a link only where it is http or https.
 */
import type { Change } from '../contract/changes.ts';
import { xmlText } from '../graph/formats/xml-text.ts';

export interface AtomFeed {
  projectUid: string;
  projectName: string;
  /** Where the feed is, and where it goes on. */
  selfUrl: string;
  nextUrl: string | null;
  /** ISO 8601. */
  updated: string;
}

export async function* renderAtom(
  feed: AtomFeed,
  changes: AsyncIterable<Change> | Iterable<Change>,
): AsyncGenerator<string> {
  const next = feed.nextUrl === null ? '' : `\n  <link rel="next" href="${xmlText(feed.nextUrl)}"/>`;
  yield `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>urn:uuid:${feed.projectUid}</id>
  <title>${xmlText(`Changes of ${feed.projectName}`)}</title>
  <updated>${feed.updated}</updated>
  <author><name>Sumi-Ripple</name></author>
  <generator>Sumi-Ripple</generator>
  <link rel="self" type="application/atom+xml" href="${xmlText(feed.selfUrl)}"/>${next}
`;
  for await (const change of changes) yield entryOf(feed, change);
  yield '</feed>\n';
}

function entryOf({ projectUid }: AtomFeed, change: Change): string {
  const { page_id, url, outcome, title, visited_at, run } = change;
  const link = /^https?:\/\//i.test(url) ? `\n    <link rel="alternate" href="${xmlText(url)}"/>` : '';
  return `  <entry>
    <id>urn:sumi:change:${projectUid}:${run}:${page_id}:${Date.parse(visited_at)}</id>
    <title>${xmlText(`${outcome}: ${title ?? url}`)}</title>
    <updated>${visited_at}</updated>${link}
    <category term="${outcome}"/>
    <summary type="text">${xmlText(summaryOf(change))}</summary>
  </entry>
`;
}

/** What changed, in words; single values with both ends. */
function summaryOf({
  url,
  parts,
  fields,
  words_added,
  words_removed,
  links_added,
  links_removed,
}: Change): string {
  const lines = [url];
  if (parts.length > 0) lines.push(`Changed: ${parts.join(', ')}.`);
  for (const { name, before, after } of fields) lines.push(`${name}: ${before ?? '–'} → ${after ?? '–'}`);
  if ((words_added ?? 0) + (words_removed ?? 0) > 0)
    lines.push(`Words: ${words_added ?? 0} added, ${words_removed ?? 0} removed.`);
  if (links_added.length + links_removed.length > 0)
    lines.push(`Links: ${links_added.length} added, ${links_removed.length} removed.`);
  return lines.join('\n');
}

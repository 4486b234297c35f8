/** The tables that keep something of a page beside its own row, alike in both stores: cleared with the project's pages. */
export const PAGE_TABLES = [
  'fetched',
  'page_text',
  'link_set',
  'link_change',
  'page_depth',
  'lowering',
  'sitemap_entry',
  'revisit',
  'orphan',
  'reverse_link_set',
] as const;

/** How many rows of history were cleared. */
export interface Forgotten {
  visits: number;
  changes: number;
  requests: number;
}

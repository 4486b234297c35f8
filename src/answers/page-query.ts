/** The one place that makes a filter and an order of the store's list of pages from what a program asked for. */
import type { PageFilterQuery, PageQuery } from '../contract/page-query.ts';
import type { ListQuery, PageListFilter } from '../store/list-queries.ts';

/** `project`: the project's name. */
export function pageFilterOf(query: PageFilterQuery, project: string): PageListFilter {
  const { status, state, status_code, host, section, depth, change, reason, noindex, content_type, q } =
    query;
  const filter: PageListFilter = { project };
  if (status !== undefined) filter.statuses = status;
  if (state !== undefined) filter.states = state;
  if (status_code !== undefined) filter.statusIn = status_code;
  if (host !== undefined) filter.hosts = host;
  if (section !== undefined) filter.section = section;
  if (depth !== undefined) [filter.minDepth, filter.maxDepth] = [depth.least, depth.most];
  if (change !== undefined) filter.changes = change;
  if (reason !== undefined) filter.reason = reason;
  if (noindex !== undefined) filter.noindex = noindex;
  if (content_type !== undefined) filter.contentTypes = content_type;
  if (q !== undefined) filter.search = q;
  return filter;
}

export function pageQueryOf(
  { sort, order, ...filter }: PageQuery,
  project: string,
): Pick<ListQuery<'pages'>, 'filter' | 'sort' | 'order'> {
  return { filter: pageFilterOf(filter, project), sort, order };
}

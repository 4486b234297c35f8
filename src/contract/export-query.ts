/** What the export takes: what, in which format, and the filters of the list that it is made of. */
import { z } from 'zod';
import { EXPORT_FORMAT_NAMES, EXPORT_SUBJECTS, type ExportSubject } from './export.ts';
import { changeParams, linkFilterParams, runParam, sinceParam } from './page-parts.ts';
import { pageQueryParams } from './page-query.ts';
import { FieldList } from './pages.ts';

/** Which parameters each subject takes beside what and format. */
const TAKEN: Record<ExportSubject, readonly string[]> = {
  pages: [...Object.keys(pageQueryParams), 'fields'],
  links: Object.keys(linkFilterParams),
  changes: [...Object.keys(changeParams), 'since'],
  graph: ['of', 'table'],
  report: ['run'],
};

export const exportQuery = z
  .strictObject({
    what: z.enum(EXPORT_SUBJECTS),
    format: z.enum(EXPORT_FORMAT_NAMES).optional().meta({
      description:
        'pages and links: csv (unless said), jsonl, json, parquet. changes: json, jsonl, csv, atom. graph: gexf, graphml, csv, jsonl, dot, parquet. report: html, json.',
    }),
    ...pageQueryParams,
    fields: FieldList.optional(),
    ...linkFilterParams,
    ...changeParams,
    since: sinceParam.optional(),
    of: z.enum(['pages', 'domains']).optional().meta({ description: 'Nodes of the graph.' }),
    table: z.enum(['edges', 'nodes']).optional().meta({
      description: 'csv and parquet have the graph in two tables; unless said: edges.',
    }),
    run: runParam.optional().meta({ description: 'Of the report; unless said, the whole history.' }),
  })
  .superRefine((query, context) => {
    const taken = ['what', 'format', ...TAKEN[query.what]];
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined || taken.includes(name)) continue;
      const message = `An export of ${query.what} does not take this parameter.`;
      context.addIssue({ code: 'custom', path: [name], message });
    }
  });

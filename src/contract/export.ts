/** What can be exported, and in which formats. */
export const EXPORTS = {
  pages: ['csv', 'jsonl', 'json', 'parquet'],
  links: ['csv', 'jsonl', 'json', 'parquet'],
  changes: ['json', 'jsonl', 'csv', 'atom'],
  graph: ['gexf', 'graphml', 'csv', 'jsonl', 'dot', 'parquet'],
  report: ['html', 'json'],
} as const;

export type ExportSubject = keyof typeof EXPORTS;
export const EXPORT_SUBJECTS = Object.keys(EXPORTS) as [ExportSubject, ...ExportSubject[]];
export type ExportFormatName = (typeof EXPORTS)[ExportSubject][number];
export const EXPORT_FORMAT_NAMES = [...new Set(Object.values(EXPORTS).flat())] as [
  ExportFormatName,
  ...ExportFormatName[],
];

export const MEDIA_TYPES: Record<ExportFormatName, string> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/x-ndjson; charset=utf-8',
  json: 'application/json; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
  atom: 'application/atom+xml; charset=utf-8',
  gexf: 'application/gexf+xml; charset=utf-8',
  graphml: 'application/graphml+xml; charset=utf-8',
  dot: 'text/vnd.graphviz; charset=utf-8',
  html: 'text/html; charset=utf-8',
};

/** The one place that knows which writer makes which format. Runs in the DuckDB thread: only text leaves it. */
import type { CreateResultWriter } from './result-format.ts';
import { csvWriter } from './write-csv.ts';
import { jsonArrayWriter, jsonLinesWriter } from './write-json.ts';
import { markdownWriter } from './write-markdown.ts';
import { tableWriter } from './write-table.ts';
import { createZonedText } from './zoned-time.ts';

export const createResultWriter: CreateResultWriter = ({ format, columns, width, timeZone }) => {
  const zoned = createZonedText(timeZone);
  switch (format) {
    case 'json':
      return jsonArrayWriter(columns, zoned);
    case 'jsonl':
      return jsonLinesWriter(columns, zoned);
    case 'csv':
      return csvWriter(columns, zoned);
    case 'markdown':
      return markdownWriter(columns, zoned);
    case 'table':
      return tableWriter(columns, width ?? null, zoned);
  }
};

/** Questions in SQL about one project. */
import { z } from 'zod';
import { MOST_QUERY_ROWS, queryColumn, queryParameters, sqlText } from '../../contract/queries.ts';
import { sumiError } from '../../errors.ts';
import { agentTool, projectOf, READS } from '../agent.ts';
import { cleanData } from '../clean-text.ts';
import { cutText, lengthOf, MOST_CHARACTERS, MOST_ROWS } from '../fit-answer.ts';
import { readOffset, writeOffset } from '../offset-cursor.ts';
import { cursorInput, limitInput, nextCursor, projectId, UNTRUSTED_NOTE } from '../page-facts.ts';

const MOST_MS = 10_000;
const MOST_COLUMNS = 100;
/** For rows, beside the columns. */
const LEAST_ROOM = 10_000;
/** Characters of a value that are left, in turn, until a row fits. */
const CUTS = [2000, 500, 100, 20];

export const queryTool = agentTool({
  name: 'query',
  title: 'Ask in SQL',
  about: `Answers one SQL statement (DuckDB, read-only) about a project. SHOW TABLES lists its tables: pages, live, links, visits, hosts, page_changes, runs, sitemap_entries, cc_index; DESCRIBE pages lists columns. Give an ORDER BY when you go on with next_cursor. ${UNTRUSTED_NOTE}`,
  scope: 'read',
  input: z.strictObject({
    project_id: projectId,
    sql: sqlText,
    params: queryParameters.optional(),
    limit: limitInput,
    cursor: cursorInput,
  }),
  output: z.strictObject({
    columns: z.array(queryColumn),
    untrusted_rows: z.array(z.array(z.unknown())).describe(UNTRUSTED_NOTE),
    truncated: z
      .boolean()
      .describe('A value was too long and is cut, or only the first 10,000 rows can be read.'),
    next_cursor: nextCursor,
  }),
  hints: READS,
  async run({ project_id, sql, params, limit = MOST_ROWS, cursor }, call) {
    const project = await projectOf(call, project_id);
    const about = [project.uid, sql, params ?? null];
    const offset = cursor === undefined ? 0 : readOffset(cursor, about);
    const end = Math.min(MOST_QUERY_ROWS, offset + Math.min(limit, MOST_ROWS) + 1);
    const found = await call.parts.queries.ask({
      ...{ project: project.project, sql, params, limit: end },
      ...{ timeoutMs: MOST_MS, signal: call.signal, asker: call.caller.key },
    });
    if (found.columns.length > MOST_COLUMNS)
      throw sumiError('query-refused', {
        problem: `it gives ${found.columns.length} columns; expected at most ${MOST_COLUMNS}`,
      });
    const columns = found.columns.map(({ name, type }) => ({
      name: cutText(cleanData(name), 100),
      type: cutText(cleanData(type), 100),
    }));
    const room = MOST_CHARACTERS - lengthOf({ columns }) - 500;
    if (room < LEAST_ROOM)
      throw sumiError('query-refused', { problem: 'the names of its columns are too long' });
    const { rows, wasCut } = rowsThatFit(found.rows.slice(offset, offset + limit), room);
    const read = offset + rows.length;
    const hasMore = read < found.rows.length;
    const isAtEnd = end === MOST_QUERY_ROWS && found.truncated && !hasMore;
    return {
      columns,
      untrusted_rows: rows,
      truncated: wasCut || isAtEnd || (found.truncated && found.rows.length < end),
      next_cursor: hasMore ? writeOffset(read, about) : null,
    };
  },
});

function rowsThatFit(given: readonly unknown[][], room: number): { rows: unknown[][]; wasCut: boolean } {
  const rows: unknown[][] = [];
  let left = room;
  let wasCut = false;
  for (const row of given) {
    let fitted = cleanData(row);
    for (const most of CUTS) {
      if (lengthOf({ row: fitted }) <= room) break;
      fitted = fitted.map((value) => cutValue(value, most));
      wasCut = true;
    }
    left -= lengthOf({ row: fitted });
    if (left < 0 && rows.length > 0) break;
    rows.push(fitted);
  }
  return { rows, wasCut };
}

/** Of a list or an object, the JSON is cut: half of it would look like all of it. */
function cutValue(value: unknown, most: number): unknown {
  if (typeof value === 'string') return cutText(value, most);
  if (typeof value !== 'object' || value === null) return value;
  const text = JSON.stringify(value);
  return text.length <= most ? value : cutText(text, most);
}

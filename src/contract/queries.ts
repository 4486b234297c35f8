/** Questions in SQL about one project: what is sent, and the rows that come back. */
import { z } from 'zod';

export const MOST_SQL = 100_000;
export const MOST_QUERY_ROWS = 10_000;
export const QUERY_ROWS_UNLESS_SAID = 1000;
const MOST_PARAMETERS = 1000;

const single = z.union([z.string().max(100_000), z.number(), z.boolean(), z.null()]);
const parameter = z.union([single, z.array(single).max(10_000)]);

export const queryParameters = z
  .union([
    z.array(parameter).max(MOST_PARAMETERS),
    z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'expected a name as in $name'), parameter)
      .refine((given) => Object.keys(given).length <= MOST_PARAMETERS, 'expected fewer parameters'),
  ])
  .meta({ description: 'Values for $1 or ? (a list), or for $name (an object).' });

export const sqlText = z.string().min(1).max(MOST_SQL).meta({
  description:
    'One statement that only reads, in the SQL of DuckDB: SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW TABLES, SUMMARIZE or EXPLAIN. SHOW TABLES lists the tables of the project, DESCRIBE and the name of one lists its columns.',
});

export const queryRequest = z
  .strictObject({
    sql: sqlText,
    params: queryParameters.optional(),
    limit: z
      .int()
      .min(1)
      .max(MOST_QUERY_ROWS)
      .optional()
      .meta({ description: 'Rows of the answer, 1 to 10,000; 1,000 unless given.' }),
  })
  .meta({ id: 'QueryRequest', description: 'A question in SQL.' });

export const queryColumn = z
  .strictObject({ name: z.string(), type: z.string().meta({ description: 'The type in DuckDB.' }) })
  .meta({ id: 'QueryColumn' });

export const queryAnswer = z
  .strictObject({
    columns: z.array(queryColumn),
    rows: z.array(z.array(z.unknown())).meta({
      description:
        'Values in the order of the columns. Whole numbers beyond 2^53, decimals, NaN and infinities are texts, times ISO 8601 in UTC, bytes base64.',
    }),
    truncated: z.boolean().meta({
      description: 'There are more rows, or a value or the answer was too long and is cut.',
    }),
    milliseconds: z.number().min(0),
  })
  .meta({ id: 'QueryAnswer', description: 'The rows of a question in SQL.' });

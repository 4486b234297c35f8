/**
 * What every list takes and answers: items with cursors to the next and to the previous page of results. A cursor is
 * opaque, belongs to one filter, sort and order, and never counts rows. The total is counted only on request.
 */
import { z } from 'zod';

export const MOST_ITEMS = 1000;
export const ITEMS_UNLESS_SAID = 50;

/** A flag in a query string. */
export const flagParam = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .meta({ type: 'boolean' });

/** A whole number in a query string: digits only, so that `1e3`, ` 5` and `0x10` are refused. */
export function integerParam(least: number, most: number) {
  const range = z.number().int().min(least).max(most);
  return z
    .string()
    .regex(/^-?\d{1,15}$/, 'expected a whole number')
    .transform(Number)
    .pipe(range)
    .meta({ type: 'integer', minimum: least, maximum: most });
}

/** The part of a query string that all lists share: spread it into the object of a list's own parameters. */
export const listParams = {
  limit: integerParam(1, MOST_ITEMS)
    .optional()
    .meta({ description: 'Items of one answer, 1 to 1000; 50 unless given.' }),
  cursor: z
    .string()
    .min(1)
    .max(4000)
    .optional()
    .meta({ description: '`next_cursor` or `prev_cursor` of an answer to the same filter, sort and order.' }),
  count: flagParam.optional().meta({ description: 'true: answer the total as well.' }),
};

export const orderParam = z.enum(['asc', 'desc']);

/** The answer of a list. */
export function listSchema<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    next_cursor: z.string().nullable().meta({ description: 'null where nothing follows.' }),
    prev_cursor: z.string().nullable().meta({ description: 'null where nothing precedes.' }),
    total: z.int().min(0).optional().meta({ description: 'Only with count=true.' }),
    total_is_exact: z
      .boolean()
      .optional()
      .meta({ description: 'false: there are at least so many; counting ended at 20,000 rows looked at.' }),
  });
}

export interface ListAnswer<Item> {
  items: Item[];
  next_cursor: string | null;
  prev_cursor: string | null;
  total?: number;
  total_is_exact?: boolean;
}

/** Of parameters that several routes have. */
export const projectParams = z.strictObject({
  id: z.string().meta({ description: 'The UUID of the project.' }),
});

export const isoTime = z.iso.datetime().meta({ description: 'ISO 8601, in UTC.' });

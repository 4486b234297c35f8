import { expect, it } from 'vitest';
import { z } from 'zod';
import { sayIssue } from './say-issue.ts';

const told = (schema: z.ZodType, value: unknown) =>
  sayIssue(schema.safeParse(value).error!.issues[0].message);

it.each([
  [z.object({ a: z.string() }), {}, 'Expected a value; there is none.'],
  [z.string(), 5, 'Expected string, found number.'],
  [z.enum(['read', 'write']), 'x', 'Expected one of "read", "write".'],
  [z.number().min(1), 0, 'Expected at least 1.'],
  [z.number().max(1000), 1001, 'Expected at most 1000.'],
  [z.string().min(1), '', 'Expected at least 1 character.'],
  [z.string().max(2), 'abc', 'Expected at most 2 characters.'],
  [z.array(z.string()).max(2), ['a', 'b', 'c'], 'Expected at most 2 items.'],
  [z.string().refine(() => false, 'expected a name'), 'a', 'Expected a name.'],
])('says what was expected: %#', (schema, value, expected) => {
  expect(told(schema, value)).toBe(expected);
});

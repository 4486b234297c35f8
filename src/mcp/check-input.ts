/** Input of tools by a schema: every mistake is named with its place, as over REST. */
import type { z } from 'zod';
import { sayIssue } from '../contract/say-issue.ts';
import { sumiError } from '../errors.ts';

const MOST_PROBLEMS = 20;

export function checkedWith<Schema extends z.ZodType>(schema: Schema, given: unknown): z.infer<Schema> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const errors = read.error.issues.slice(0, MOST_PROBLEMS).flatMap((issue) => {
    const place = issue.path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`);
    if (issue.code !== 'unrecognized_keys')
      return [{ pointer: place.join(''), detail: sayIssue(issue.message) }];
    return issue.keys.map((key) => ({
      pointer: [...place, `/${key.slice(0, 100)}`].join(''),
      detail: 'There is no such input.',
    }));
  });
  const reason = errors
    .slice(0, 3)
    .map(({ pointer, detail }) => `${pointer.slice(1) || 'the input'}: ${detail.replace(/\.$/, '')}`)
    .join('; ');
  throw sumiError('request-invalid', { reason, errors });
}

/** How every mistake is answered: RFC 9457, with a stable code and a hint. */
import { z } from 'zod';

export const fieldProblem = z
  .strictObject({
    pointer: z
      .string()
      .meta({ description: 'JSON pointer into the body; for a parameter its name after a slash.' }),
    detail: z.string(),
  })
  .meta({ id: 'FieldProblem', description: 'One field that is wrong, and what was expected.' });

export const problem = z
  .strictObject({
    type: z.string().meta({ description: 'A URI of the code.' }),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string(),
    code: z.string().meta({ description: 'Stable: programs decide by it.' }),
    hint: z.string().meta({ description: 'What to do next.' }),
    errors: z.array(fieldProblem).optional(),
  })
  .meta({ id: 'Problem', description: 'A problem document (application/problem+json).' });

export type Problem = z.infer<typeof problem>;

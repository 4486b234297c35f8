/** Saved queries of a project: a name for the parameters of a list. */
import { z } from 'zod';
import { listSchema } from './lists.ts';

export const MOST_VIEWS = 200;
const MOST_PARAMETERS = 50;

const ViewName = z
  .string()
  .min(1)
  .max(200)
  .refine(
    (name) => name.trim() !== '' && !/\p{Cc}/u.test(name),
    'Expected a name without control characters.',
  );

const ViewQuery = z
  .record(z.string().min(1).max(100), z.string().max(4000))
  .refine(
    (query) => Object.keys(query).length <= MOST_PARAMETERS,
    `Expected at most ${MOST_PARAMETERS} parameters.`,
  )
  .describe('Parameters of the query string of P/pages, by name.');

export const NewView = z
  .strictObject({ name: ViewName.describe('Unique in the project.'), query: ViewQuery })
  .meta({ id: 'NewView' });
export type NewView = z.infer<typeof NewView>;

export const ViewChange = NewView.partial().meta({
  id: 'ViewChange',
  description: 'What is given is changed.',
});
export type ViewChange = z.infer<typeof ViewChange>;

export const View = z
  .strictObject({
    id: z.string().describe('A UUID.'),
    project_id: z.string(),
    name: z.string(),
    query: z.record(z.string(), z.string()),
    created_at: z.string(),
    updated_at: z.string(),
    version: z.int(),
  })
  .meta({ id: 'View', description: 'A saved query of a project.' });
export type View = z.infer<typeof View>;

export const ViewList = listSchema(View).meta({ id: 'ViewList' });

/** What the service says of itself: its limits, the options of a project, and whether it works. */
import { z } from 'zod';
import { isoTime } from './lists.ts';

export const info = z
  .strictObject({
    name: z.literal('sumi-ripple'),
    version: z.string(),
    api: z.literal('v1'),
    store: z.enum(['sqlite', 'postgres']),
    limits: z.strictObject({
      max_pages: z.int(),
      max_running: z.int(),
      concurrency: z.int(),
      body_bytes: z.int(),
      list_limit: z.int(),
      rate_limit: z.int().meta({ description: 'Requests a second of one token or address; 0: no limit.' }),
    }),
    features: z.strictObject({
      bodies: z.boolean().meta({ description: 'Bodies of pages are kept.' }),
      ignoring_robots: z.boolean().meta({ description: 'A project may set respect_robots_txt to false.' }),
      websocket: z.boolean(),
      mcp: z.boolean(),
    }),
    started_at: isoTime,
  })
  .meta({ id: 'Info' });

export const option = z
  .strictObject({
    name: z.string().meta({ description: 'As in settings.' }),
    option: z.string().meta({ description: 'The flag of the commands, without its dashes.' }),
    type: z.string(),
    default: z.unknown(),
    choices: z.array(z.string()).nullable(),
    min: z.number().nullable(),
    max: z.number().nullable(),
    doc: z.string(),
    group: z.string(),
    set_by: z.enum(['operator', 'project', 'command']),
  })
  .meta({ id: 'Option', description: 'A setting of projects.' });

export const optionTable = z
  .strictObject({
    options: z.array(option),
    profiles: z.array(
      z.strictObject({ name: z.string(), doc: z.string(), defaults: z.record(z.string(), z.unknown()) }),
    ),
  })
  .meta({ id: 'OptionTable' });

export const health = z
  .strictObject({
    status: z.enum(['ok', 'failing']),
    store: z.enum(['ok', 'failing']),
    engine: z.enum(['ok', 'failing']),
    running: z.int().nullable(),
    queued: z.int().nullable(),
  })
  .meta({ id: 'Health' });

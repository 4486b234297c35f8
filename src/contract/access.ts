/** Tokens and sessions: who may use the service. */
import { z } from 'zod';
import { isoTime } from './lists.ts';

const scope = z.enum(['read', 'write', 'admin']);

export const token = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    scopes: z.array(scope),
    projects: z.array(z.string()).nullable().meta({ description: 'UUIDs; null: every project.' }),
    created_at: isoTime,
    expires_at: isoTime.nullable(),
    last_used_at: isoTime.nullable().meta({ description: 'To the minute.' }),
  })
  .meta({ id: 'Token', description: 'A token without its secret.' });

export const newToken = z
  .strictObject({
    name: z.string().trim().min(1).max(200),
    scopes: z
      .array(scope)
      .min(1)
      .max(3)
      .optional()
      .meta({ description: 'read unless given; admin includes write, write includes read.' }),
    projects: z.array(z.string().max(100)).min(1).max(100).nullable().optional(),
    expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
  })
  .meta({ id: 'NewToken' });

export const createdToken = token
  .extend({ token: z.string().meta({ description: 'The secret: shown only here.' }) })
  .meta({
    id: 'CreatedToken',
  });

export const signIn = z.strictObject({ token: z.string().min(1).max(200) }).meta({ id: 'SignIn' });

export const session = z
  .strictObject({
    signed_in: z.boolean(),
    kind: z.enum(['open', 'token', 'session']),
    name: z.string().nullable(),
    scopes: z.array(scope),
    projects: z.array(z.string()).nullable(),
    expires_at: isoTime.nullable(),
  })
  .meta({ id: 'Session', description: 'Who makes the request, and what that allows.' });

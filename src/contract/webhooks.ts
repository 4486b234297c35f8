/** Webhooks of a project, and what they were sent. */
import { z } from 'zod';
import { listSchema, projectParams } from './lists.ts';

const EVENT_NAMES = [
  ...(['crawl.started', 'crawl.completed', 'crawl.failed', 'crawl.significant', 'page.changed'] as const),
] as const;

export const webhookParams = projectParams.extend({
  webhookId: z.string().max(100).meta({ description: 'The UUID of the webhook.' }),
});
export const deliveryParams = webhookParams.extend({
  deliveryId: z.string().max(200).meta({ description: 'The id of the delivery.' }),
});

const events = z.array(z.enum(EVENT_NAMES)).min(1).max(EVENT_NAMES.length).meta({
  description: 'page.changed: one a page that came, changed or went, after a run that is not the first.',
});
const url = z
  .string()
  .min(1)
  .max(2000)
  .meta({ description: 'https:// or http:// to an address that the service may reach; never shown again.' });
const secret = z
  .string()
  .min(16)
  .max(200)
  .meta({ description: 'Signs every delivery; made where none is given.' });

export const NewWebhook = z
  .strictObject({ url, events, secret: secret.optional(), enabled: z.boolean().optional() })
  .meta({ id: 'NewWebhook' });

export const WebhookChange = NewWebhook.partial().meta({
  id: 'WebhookChange',
  description: 'What is given is changed.',
});

const shown = {
  id: z.string().meta({ description: 'A UUID.' }),
  project_id: z.string(),
  url: z.string().meta({ description: 'Scheme, host and port only: the path may be a password.' }),
  events: z.array(z.enum(EVENT_NAMES)),
  enabled: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
  failing_since: z.string().nullable().meta({ description: 'null while deliveries arrive.' }),
  last_delivery: z.string().nullable(),
  version: z.int(),
};

export const Webhook = z
  .strictObject(shown)
  .meta({ id: 'Webhook', description: 'Where events of a project are sent.' });
export const WebhookList = listSchema(Webhook).meta({ id: 'WebhookList' });

export const CreatedWebhook = z
  .strictObject({ ...shown, secret: z.string().meta({ description: 'Shown this once.' }) })
  .meta({ id: 'CreatedWebhook', description: 'A new webhook, with its secret.' });

export const Delivery = z
  .strictObject({
    id: z.string().meta({ description: 'Of the event; the receiver gets it as sumi-delivery.' }),
    webhook_id: z.string(),
    event: z.enum([...EVENT_NAMES, 'test']),
    run: z.int().nullable(),
    state: z.enum(['waiting', 'delivered', 'failed']),
    attempts: z.int().min(0),
    status_code: z.int().nullable().meta({ description: 'Of the last answer.' }),
    error: z.string().nullable(),
    created_at: z.string(),
    delivered_at: z.string().nullable(),
    next_try_at: z.string().nullable(),
  })
  .meta({ id: 'Delivery', description: 'An event for a webhook, and what became of it.' });
export const DeliveryList = listSchema(Delivery).meta({ id: 'DeliveryList' });

/** Webhooks of a project, as doors set and see them. */

export const WEBHOOK_EVENTS = [
  'crawl.started',
  'crawl.completed',
  'crawl.failed',
  'crawl.significant',
  'page.changed',
] as const;
export type WebhookEventName = (typeof WEBHOOK_EVENTS)[number];

export interface NewWebhook {
  url: string;
  events: readonly WebhookEventName[];
  /** Signs deliveries; made where none is given. */
  secret?: string;
  enabled?: boolean;
}

export interface Webhook {
  id: string;
  project_id: string;
  /** Scheme and host only: the path may be a password. */
  url: string;
  events: WebhookEventName[];
  enabled: boolean;
  created_at: string;
  updated_at: string;
  /** Failing since then; null while deliveries arrive. */
  failing_since: string | null;
  last_delivery: string | null;
  version: number;
}

/** The answer to its making: the only time that the secret is shown. */
export interface CreatedWebhook extends Webhook {
  secret: string;
}

export interface Delivery {
  id: string;
  webhook_id: string;
  event: WebhookEventName | 'test';
  run: number | null;
  state: 'waiting' | 'delivered' | 'failed';
  attempts: number;
  status_code: number | null;
  error: string | null;
  created_at: string;
  delivered_at: string | null;
  next_try_at: string | null;
}

export interface WebhookVerbs {
  list(id: string): Promise<Webhook[]>;
  get(id: string, webhookId: string): Promise<Webhook>;
  /** Refused for an address that the service may not reach (`egress-refused`). */
  create(id: string, webhook: NewWebhook): Promise<CreatedWebhook>;
  change(id: string, webhookId: string, change: Partial<NewWebhook>, ifVersion?: number): Promise<Webhook>;
  remove(id: string, webhookId: string): Promise<void>;
  /** Sends a test event now. */
  test(id: string, webhookId: string): Promise<Delivery>;
  /** Newest first. */
  deliveries(
    id: string,
    webhookId: string,
    page: { limit: number; after?: string },
  ): Promise<{ deliveries: Delivery[]; next: string | null }>;
  redeliver(id: string, webhookId: string, deliveryId: string): Promise<Delivery>;
}

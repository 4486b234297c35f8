/** Webhooks of a project. Their secret is answered once, when they are made; of their URL only the origin is. */
import { z } from 'zod';
import { findProject } from '../../answers/find-project.ts';
import { ITEMS_UNLESS_SAID, integerParam, MOST_ITEMS, projectParams } from '../../contract/lists.ts';
import {
  CreatedWebhook,
  Delivery,
  DeliveryList,
  deliveryParams,
  NewWebhook,
  Webhook,
  WebhookChange,
  WebhookList,
  webhookParams,
} from '../../contract/webhooks.ts';
import { sumiError } from '../../errors.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { changeVersion, markVersion } from '../entity-tags.ts';

const TAGS = ['Webhooks'];
const PATH = '/projects/:id/webhooks';
const ONE = `${PATH}/:webhookId`;
const nothing = z.strictObject({}).optional();
/** The place of a delivery among those of its webhook. */
const CURSOR = /^\d{16}(?:\.\d{16})?$/;

const deliveriesQuery = z.strictObject({
  limit: integerParam(1, MOST_ITEMS).optional(),
  cursor: z.string().min(1).max(100).optional(),
});

export function registerWebhookRoutes(app: ApiServer, deps: ApiDeps): void {
  const { webhooks } = deps.engine;
  const uidOf = async (id: string) => (await findProject(deps, id)).uid;

  app.get(
    PATH,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'listWebhooks', summary: 'The webhooks of a project' },
        params: projectParams,
        response: { 200: WebhookList },
      },
    },
    async ({ params }) => {
      // A project has a few.
      const items = await webhooks.list(await uidOf(params.id));
      return { items, next_cursor: null, prev_cursor: null };
    },
  );

  app.post(
    PATH,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'createWebhook', summary: 'Make a webhook; its secret is shown once' },
        params: projectParams,
        body: NewWebhook,
        response: { 201: CreatedWebhook },
      },
    },
    async ({ params, body }, reply) => {
      const uid = await uidOf(params.id);
      const webhook = await webhooks.create(uid, body);
      return reply
        .code(201)
        .header('location', `/api/v1/projects/${uid}/webhooks/${webhook.id}`)
        .send(webhook);
    },
  );

  app.get(
    ONE,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getWebhook', summary: 'A webhook' },
        params: webhookParams,
        response: { 200: Webhook },
      },
    },
    async ({ params }, reply) => {
      const webhook = await webhooks.get(await uidOf(params.id), params.webhookId);
      markVersion(reply, webhook.version);
      return webhook;
    },
  );

  app.patch(
    ONE,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'changeWebhook', summary: 'Change what is given' },
        params: webhookParams,
        body: WebhookChange,
        response: { 200: Webhook },
      },
    },
    async (request, reply) => {
      const { webhookId } = request.params;
      const uid = await uidOf(request.params.id);
      const { version } = await webhooks.get(uid, webhookId);
      const webhook = await changeVersion(request, version, (ifVersion) =>
        webhooks.change(uid, webhookId, request.body, ifVersion),
      );
      markVersion(reply, webhook.version);
      return webhook;
    },
  );

  app.delete(
    ONE,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'deleteWebhook', summary: 'Delete a webhook and what it was sent' },
        params: webhookParams,
        response: { 204: z.null() },
      },
    },
    async ({ params }, reply) => {
      await webhooks.remove(await uidOf(params.id), params.webhookId);
      return reply.code(204).send(null);
    },
  );

  registerDeliveryRoutes(app, deps);
}

function registerDeliveryRoutes(app: ApiServer, deps: ApiDeps): void {
  const { webhooks } = deps.engine;
  const uidOf = async (id: string) => (await findProject(deps, id)).uid;

  app.post(
    `${ONE}/test`,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'testWebhook', summary: 'Send a test event now, once' },
        params: webhookParams,
        body: nothing,
        response: { 200: Delivery },
      },
    },
    async ({ params }) => await webhooks.test(await uidOf(params.id), params.webhookId),
  );

  app.get(
    `${ONE}/deliveries`,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'listDeliveries' },
        summary: 'What it was sent, and what waits, newest first',
        params: webhookParams,
        querystring: deliveriesQuery,
        response: { 200: DeliveryList },
      },
    },
    async ({ params, query: { limit = ITEMS_UNLESS_SAID, cursor } }) => {
      if (cursor !== undefined && !CURSOR.test(cursor)) throw sumiError('cursor-unreadable', { cursor });
      const page = { limit, ...(cursor !== undefined && { after: cursor }) };
      const uid = await uidOf(params.id);
      const { deliveries, next } = await webhooks.deliveries(uid, params.webhookId, page);
      return { items: deliveries, next_cursor: next, prev_cursor: null };
    },
  );

  app.post(
    `${ONE}/deliveries/:deliveryId/redeliver`,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'redeliver', summary: 'Send it again, with the same id and text' },
        params: deliveryParams,
        body: nothing,
        response: { 202: Delivery },
      },
    },
    async ({ params }, reply) => {
      const uid = await uidOf(params.id);
      return reply.code(202).send(await webhooks.redeliver(uid, params.webhookId, params.deliveryId));
    },
  );
}

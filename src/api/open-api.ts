/**
 * The OpenAPI file: made of the schemas that check requests and answers, so that it cannot say anything else. Adds what no
 * single route says: how to sign in, problems, and the messages of live connections.
 */
import { STATUS_CODES } from 'node:http';
import swagger from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { PROGRAM_VERSION } from '../config/program.ts';
import type { ApiServer } from './api-deps.ts';
// The messages of WebSocket and SSE are in the file by being loaded.
import '../contract/live.ts';
import '../contract/problem.ts';

const ABOUT = `Projects, crawls and everything that is known of pages.

Times are ISO 8601 in UTC, ids of projects and pages are UUIDs, a run is its number. Lists answer \`items\`, \`next_cursor\` and
\`prev_cursor\`; \`total\` only with \`count=true\`. One call looks at 20,000 rows at most and then answers fewer with a cursor.
Mistakes are answered as \`application/problem+json\` with a stable \`code\`. GET of a single resource has an \`ETag\`; PATCH and PUT
accept \`If-Match\`, POST accepts \`Idempotency-Key\`. Live events: WebSocket at /api/v1/ws with the messages LiveRequest and
LiveMessage, or SSE at /api/v1/projects/{id}/events.`;

/** From a route's schema to its operation: the plugin says of every body that it is required. */
const OPTIONAL_BODY = 'x-optional-body';

interface OpenApiDocument {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, unknown> };
}

interface Operation {
  responses?: Record<string, { description?: string; content?: unknown }>;
  parameters?: { schema?: Record<string, unknown> }[];
  requestBody?: { required?: boolean };
  [OPTIONAL_BODY]?: boolean;
}

/** Messages of live connections belong to no route, and stay all the same. */
const ALWAYS_KEPT = ['Problem', 'FieldProblem', 'LiveRequest', 'LiveMessage', 'LiveEvent'];

const PROBLEM_ANSWER = {
  description: 'A problem.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};

export function describeApi(app: ApiServer): void {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Sumi-Ripple', version: PROGRAM_VERSION, description: ABOUT },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'A token of `sumi token create`.' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'sumi_session',
            description: 'For pages of the service.',
          },
        },
      },
      security: [{ token: [] }, { session: [] }],
    },
    transform: (route) => {
      const made = jsonSchemaTransform(route);
      return mayBeEmpty(route.schema) ? { ...made, schema: { ...made.schema, [OPTIONAL_BODY]: true } } : made;
    },
    transformObject: (document) => {
      const whole = jsonSchemaTransformObject(document) as unknown as OpenApiDocument;
      for (const path of Object.values(whole.paths ?? {})) for (const one of Object.values(path)) finish(one);
      dropUnused(whole);
      return withPlainNames(whole) as ReturnType<typeof jsonSchemaTransformObject>;
    },
  });
}

function mayBeEmpty(schema: { body?: unknown } | undefined): boolean {
  return schema?.body instanceof z.ZodOptional;
}

/** What the plugins cannot know of one operation. */
function finish(operation: Operation): void {
  for (const [status, answer] of Object.entries(operation.responses ?? {})) {
    if (answer.description === 'Default Response') answer.description = STATUS_CODES[status] ?? status;
    if (status === '204') delete answer.content;
  }
  operation.responses = { ...operation.responses, default: PROBLEM_ANSWER };
  if (operation[OPTIONAL_BODY] === true && operation.requestBody !== undefined)
    operation.requestBody.required = false;
  delete operation[OPTIONAL_BODY];
  // A number or a flag comes as a text, and is described as what it means.
  for (const { schema } of operation.parameters ?? []) {
    if (schema?.type === 'integer') delete schema.pattern;
    if (schema?.type === 'boolean') delete schema.enum;
  }
}

/** What is sent has a name of its own where nothing that is answered has it: NewProject, not NewProjectInput. */
function withPlainNames(document: OpenApiDocument): OpenApiDocument {
  const names = Object.keys(document.components?.schemas ?? {});
  const plain = names.filter(
    (name) => name.endsWith('Input') && !names.includes(name.slice(0, -'Input'.length)),
  );
  const text = JSON.stringify(document);
  const renamed = plain.reduce(
    (before, name) =>
      before
        .replaceAll(
          `"#/components/schemas/${name}"`,
          `"#/components/schemas/${name.slice(0, -'Input'.length)}"`,
        )
        .replace(`"${name}":{`, `"${name.slice(0, -'Input'.length)}":{`),
    text,
  );
  return JSON.parse(renamed) as OpenApiDocument;
}

/** Each schema comes once for what is sent and once for what is answered; only what is used stays. */
function dropUnused(document: OpenApiDocument): void {
  const schemas = document.components?.schemas ?? {};
  const used = new Set<string>();
  const visit = (value: unknown) => {
    for (const [, name] of JSON.stringify(value ?? null).matchAll(/"#\/components\/schemas\/([^"/]+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name]);
    }
  };
  visit(document.paths);
  for (const name of ALWAYS_KEPT) visit({ $ref: `#/components/schemas/${name}` });
  for (const name of Object.keys(schemas)) if (!used.has(name)) delete schemas[name];
}

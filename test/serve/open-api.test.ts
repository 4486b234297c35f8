// The OpenAPI file: whole, valid, and true. Its schemas are JSON Schema 2020-12, every route is in it, and what the service
// really answers fits what it says.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Loose, startService, type TestService } from './start-serving.ts';

let service: TestService;
let remove: () => Promise<void>;
let document: Loose;
let id: string;

beforeAll(async () => {
  ({ service, remove } = await startService());
  document = (await service.get('/api/openapi.json')).body;
  id = await service.project('one', 'http://127.0.0.1:9/');
});
afterAll(async () => {
  await service.stop();
  await remove();
});

const operations = (): { path: string; method: string; operation: Loose }[] =>
  Object.entries<Loose>(document.paths).flatMap(([path, verbs]) =>
    Object.entries<Loose>(verbs).map(([method, operation]) => ({ path, method, operation })),
  );

/** Of the table; each must be there under this name. */
const ROUTES = [
  'post /projects',
  'get /projects',
  'get /projects/{id}',
  'patch /projects/{id}',
  'delete /projects/{id}',
  'post /projects/{id}/restore',
  'post /preview',
  ...['run', 'pause', 'resume', 'stop', 'adjust'].map((verb) => `post /projects/{id}/phases/crawl/${verb}`),
  'get /projects/{id}/phases/crawl/status',
  'get /projects/{id}/pages',
  'get /projects/{id}/pages/{pageId}',
  ...['history', 'links', 'diff', 'body', 'why'].map((part) => `get /projects/{id}/pages/{pageId}/${part}`),
  ...['facets', 'tree', 'runs', 'crawl-history', 'runs/{run}', 'runs/{run}/log', 'runs/{run}/changes'].map(
    (part) => `get /projects/{id}/${part}`,
  ),
  'get /runs',
  ...['changes', 'compare', 'hosts', 'links', 'graph', 'statistics', 'audit', 'why', 'export', 'events'].map(
    (part) => `get /projects/{id}/${part}`,
  ),
  'post /projects/{id}/query',
  'get /projects/{id}/schedule',
  'put /projects/{id}/schedule',
  'post /projects/{id}/schedule/run-now',
  'get /projects/{id}/webhooks',
  'post /projects/{id}/webhooks',
  'get /projects/{id}/views',
  'post /projects/{id}/views',
  ...['get /tokens', 'post /tokens', 'delete /tokens/{tokenId}'],
  ...['get /session', 'post /session', 'delete /session'],
  ...['info', 'options', 'health', 'metrics'].map((name) => `get /${name}`),
];

describe('the OpenAPI file', () => {
  it('is OpenAPI 3.1 and names what everything needs', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({ title: 'Sumi-Ripple', version: expect.any(String) });
    const named = operations().map(({ operation }) => operation.operationId);
    expect(named.every((name) => /^[a-z][A-Za-z]+$/.test(name))).toBe(true);
    expect(new Set(named).size).toBe(named.length);
    for (const { path, method, operation } of operations()) {
      const place = `${method} ${path}`;
      expect([place, operation.summary, operation.tags]).toEqual([
        place,
        expect.stringMatching(/\w/),
        [expect.any(String)],
      ]);
      const declared = (operation.parameters ?? [])
        .filter((one: Loose) => one.in === 'path')
        .map((one: Loose) => one.name);
      expect([place, declared.sort()]).toEqual([
        place,
        [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(),
      ]);
      expect([place, operation.responses.default.content]).toEqual([
        place,
        { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      ]);
      const good = Object.keys(operation.responses).filter((status) => /^2\d\d$/.test(status));
      expect([place, good.length > 0]).toEqual([place, true]);
      for (const [status, answer] of Object.entries<Loose>(operation.responses))
        expect([place, status, answer.description]).toEqual([place, status, expect.stringMatching(/\w/)]);
    }
  });

  it('says which bodies may be left out', () => {
    const optional = operations()
      .filter(({ operation }) => operation.requestBody?.required === false)
      .map(({ operation }) => operation.operationId);
    expect(optional).toEqual(
      expect.arrayContaining(['startRun', 'pauseRun', 'restoreProject', 'testWebhook']),
    );
    expect(optional).not.toContain('createProject');
    expect(JSON.stringify(document)).not.toContain('x-optional-body');
  });

  it('has every route', () => {
    const there = operations().map(({ path, method }) => `${method} ${path.replace('/api/v1', '')}`);
    expect(ROUTES.filter((route) => !there.includes(route))).toEqual([]);
  });

  it('has schemas that are valid, named and all there', () => {
    const text = JSON.stringify(document);
    const schemas = document.components.schemas;
    for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"/]+)/g))
      expect([name, schemas[name] !== undefined]).toEqual([name, true]);
    for (const name of [
      'Project',
      'NewProject',
      'Phase',
      'CrawledPage',
      'Run',
      'Problem',
      'LiveEvent',
      'LiveRequest',
      'LiveMessage',
    ])
      expect(Object.keys(schemas)).toContain(name);
    expect(Object.keys(schemas.NewProject.properties)).toEqual(['name', 'website_url', 'settings']);
    expect(schemas.Settings.properties).toMatchObject({
      max_pages: { type: 'integer', default: 200 },
      include_patterns: { type: 'string', default: '' },
      max_concurrent: { default: 5 },
      delay_seconds: { type: 'number', default: 0.5 },
      respect_robots_txt: { type: 'boolean', default: true },
    });
    const ajv = validator();
    for (const name of Object.keys(schemas)) ajv.compile({ $ref: `api#/components/schemas/${name}` });
    const inline: Loose[] = operations().flatMap(({ operation }) => [
      ...(operation.parameters ?? []).map((one: Loose) => one.schema),
      ...[operation.requestBody, ...Object.values<Loose>(operation.responses)].flatMap((part) =>
        Object.values<Loose>(part?.content ?? {}).map(({ schema }) => schema),
      ),
    ]);
    expect(inline.length).toBeGreaterThan(100);
    for (const schema of inline)
      if (schema !== undefined) ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')));
  });

  it('tells what the service answers', async () => {
    const ajv = validator();
    const answered: string[] = [];
    for (const { path, method, operation } of operations()) {
      const content = operation.responses['200']?.content?.['application/json'];
      if (method !== 'get' || content === undefined) continue;
      if (/\{(?!id)/.test(path) || /events|export/.test(path)) continue;
      const { status, body } = await service.get(path.replace('{id}', id));
      const schema =
        status === 200
          ? content.schema
          : operation.responses.default.content['application/problem+json'].schema;
      const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')));
      expect([path, check(body), check.errors]).toEqual([path, true, null]);
      if (status === 200) answered.push(path);
      expect([path, status < 500, body]).toEqual([path, true, body]);
    }
    expect(service.log).toEqual([]);
    expect(answered.length).toBeGreaterThan(15);
  });
});

function validator(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'api');
  return ajv;
}

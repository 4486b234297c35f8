// Every operation of the OpenAPI file is asked what it allows and what it does not, while another project is crawled. Never a 5xx,
// each answer as the file says it, nothing written by what was refused. More of it: SUMI_FUZZ=10 (times), SUMI_SEED.
import { Agent, request } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listProjects } from '../../src/answers/list-projects.ts';
import { auditRuns } from '../../src/project/audit-runs.ts';
import { openReading } from '../../src/project/reading.ts';
import { page } from '../crawls/crawl-site.ts';
import { answer, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import {
  brokenRequest,
  exampleRequest,
  type Known,
  type MadeRequest,
  type Operation,
  operationsOf,
  validRequest,
} from './arbitrary-requests.ts';
import { makeReadWorld, type ReadWorld } from './reads-site.ts';
import { type Loose, STORES, type StoreKind } from './start-serving.ts';

const seed = Number(process.env.SUMI_SEED ?? 20_261_119);
const times = Number(process.env.SUMI_FUZZ ?? 1);
/** Requests to an operation; the database of the second is asked fewer. */
const HOW_MANY: Record<StoreKind, { valid: number; broken: number }> = {
  SQLite: { valid: 8 * times, broken: 12 * times },
  PostgreSQL: { valid: 6 * times, broken: 8 * times },
};
const NO_ANSWER_MS = 30_000;
/** They start a thread, or wait for their turn at a host: these are asked a fourth. */
const SLOW_ONES = ['getGraph', 'audit', 'preview', 'query'];
const SECRET = 'sixteen letters and more';

/** Of operations whose fields depend on each other, so that few generated requests are possible. */
const EXAMPLES: Record<string, { search?: string; body?: object }[]> = {
  setSchedule: [
    { body: { kind: 'daily', time: '03:30', enabled: false } },
    { body: { kind: 'weekly', day_of_week: 0, time: '23:59', timezone: 'Europe/Berlin' } },
    { body: { kind: 'monthly', day_of_month: 28, time: '00:00', mode: 'full' } },
    { body: { kind: 'cron', cron: '30 3 * * mon-fri' } },
  ],
  query: [{ body: { sql: 'SELECT count(*) AS n FROM pages' } }],
  exportProject: ['pages', 'links', 'changes', 'report'].map((what) => ({
    search: `what=${what}&format=json`,
  })),
};

interface Reply {
  status: number;
  type: string;
  text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

/** As it stands: nothing in the address is put right. Of an endless answer only the head is read. */
function send(url: string, { method, path, headers, body }: MadeRequest, isEndless = false): Promise<Reply> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, method, path, headers, agent, timeout: NO_ANSWER_MS },
      (response) => {
        const { statusCode: status = 0, headers: answered } = response;
        const type = (answered['content-type'] ?? '').split(';')[0];
        const pieces: Buffer[] = [];
        const finish = () => resolve({ status, type, text: Buffer.concat(pieces).toString() });
        if (isEndless && status === 200) {
          finish();
          sent.destroy();
          return;
        }
        response.on('data', (piece: Buffer) => pieces.push(piece)).once('end', finish);
        response.once('error', reject);
      },
    );
    sent.once('timeout', () => sent.destroy(new Error('no answer')));
    sent.once('error', reject);
    sent.end(body);
  });
}

/** What is wrong with an answer, judged by the OpenAPI file; null: nothing. */
function createJudge(document: Loose) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(document, 'api');
  const checks = new Map<string, ReturnType<Ajv2020['compile']>>();
  const checkOf = (schema: Loose) => {
    const text = JSON.stringify(schema).replaceAll('"#/', '"api#/');
    const known = checks.get(text) ?? ajv.compile(JSON.parse(text));
    checks.set(text, known);
    return known;
  };
  return ({ operation }: Operation, { status, type, text }: Reply): string | null => {
    if (status >= 500) return 'a defect';
    const declared = operation.responses[status] ?? operation.responses.default;
    if (status < 400 && operation.responses[status] === undefined) return 'a status that is not declared';
    if (/node_modules|\bat .*\.ts:\d+/.test(text) && status >= 400) return 'tells where our code is';
    if (declared.content === undefined) return text === '' || type === 'text/event-stream' ? null : 'a body';
    const media = declared.content[type];
    if (media === undefined) return `the type ${type}`;
    if (!/json$/.test(type) || media.schema === undefined) return null;
    let body: Loose;
    try {
      body = JSON.parse(text);
    } catch {
      return 'broken JSON';
    }
    const check = checkOf(media.schema);
    if (!check(body)) return JSON.stringify(check.errors?.slice(0, 3));
    return status >= 400 ? problemFault(status, body) : null;
  };
}

function problemFault(status: number, { status: said, code, hint, detail, errors }: Loose): string | null {
  if (said !== status) return `the status ${said} in the problem`;
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(code)) return `the code ${code}`;
  if (!/\.$/.test(hint) || detail === '') return `the hint ${hint}`;
  if (code === 'request-invalid' && (errors ?? []).length === 0) return 'no pointer';
  const odd = (errors ?? []).filter(({ pointer }: Loose) => !/^(?:\/(?:[^~/]|~[01])*)*$/.test(pointer));
  return odd.length > 0 ? `the pointer ${odd[0].pointer}` : null;
}

/** What only a write that was accepted may change. */
async function whatIsKept({ service }: ReadWorld): Promise<string> {
  const { records } = service.serving.answering;
  // The time of a project's last change is its version.
  const { items } = await listProjects(service.serving.answering, { state: 'all', limit: 1000 }, null);
  const projects = items.map(({ uid, project, updated_at, deleted_at }) => [
    uid,
    project,
    updated_at,
    deleted_at,
  ]);
  const kinds = ['token', 'session', 'view', 'schedule', 'webhook', 'idempotency'] as const;
  const kept = await Promise.all(
    kinds.map(async (kind) =>
      (await records.list({ kind, limit: 1000 })).map(({ scope, key, version }) => [
        ...[kind, scope, key],
        ...(kind === 'webhook' || kind === 'schedule' ? [] : [version]),
      ]),
    ),
  );
  return JSON.stringify([projects, kept]);
}

/** How the project has to stand for the operation to be possible. */
const BEFORE: Record<string, [string, string][]> = {
  pauseRun: [['POST', 'phases/crawl/run']],
  stopRun: [['POST', 'phases/crawl/run']],
  adjustRun: [['POST', 'phases/crawl/run']],
  resumeRun: [
    ['POST', 'phases/crawl/run'],
    ['POST', 'phases/crawl/pause'],
  ],
  restoreProject: [['DELETE', '']],
};

/** A project that may be changed: with a view, a webhook and a delivery of its own. */
async function victimFor({ service, otherId }: ReadWorld, web: FakeWeb, { operation, path }: Operation) {
  const id = await service.project(`victim ${operation.operationId}`, web.url('/', 1), {
    delay_seconds: 3600,
    max_concurrent: 1,
  });
  const place = `projects/${id}`;
  const ids: Record<string, string> = { id };
  if (path.includes('{viewId}')) {
    const view = await service.post(`${place}/views`, { name: 'a view', query: { status: 'success' } });
    ids.viewId = view.body.id;
  }
  if (path.includes('{webhookId}')) {
    const hook = { url: web.url('/hook'), events: ['crawl.completed'], secret: SECRET };
    ids.webhookId = (await service.post(`${place}/webhooks`, hook)).body.id;
    ids.deliveryId = (await service.post(`${place}/webhooks/${ids.webhookId}/test`)).body.id;
  }
  if (path.includes('schedule/run-now'))
    await service.ask('PUT', `${place}/schedule`, { body: { kind: 'daily', time: '03:00', enabled: false } });
  if (path.includes('{tokenId}')) ids.tokenId = (await service.post('tokens', { name: 'a token' })).body.id;
  for (const [method, verb] of BEFORE[operation.operationId] ?? []) {
    const { status, body } = await service.ask(method, verb === '' ? place : `${place}/${verb}`);
    if (status >= 300) throw new Error(JSON.stringify(body));
  }
  return { ids, strangers: [otherId] };
}

describe.each(STORES)(`the API by its own description (%s, SUMI_SEED=${seed})`, (store) => {
  let world: ReadWorld;
  let end: () => Promise<void>;
  let web: FakeWeb;
  let document: Loose;
  let bystander: string;
  let isOver = false;
  const faults: string[] = [];
  const succeeded = new Set<string>();

  beforeAll(async () => {
    ({ world, end } = await makeReadWorld(store, {}, [{ name: 'fuzz', scopes: ['admin'] }]));
    // It goes on for as long as requests are made.
    web = await startFakeWeb({
      hosts: 3,
      pages: {
        '/': page('home', '/more/1'),
        '/more/*': (exchange) => {
          const next = Number(exchange.path.slice('/more/'.length)) + 1;
          answer(exchange, { body: isOver ? page('last') : page(exchange.path, `/more/${next}`) });
        },
        '/hook': { status: 204 },
      },
    });
    document = (await world.service.get('/api/openapi.json')).body;
    bystander = await world.service.project('bystander', web.url('/'), {
      ...{ delay_seconds: 0.05, max_concurrent: 1, max_pages: 1000 },
    });
    await world.service.post(`projects/${bystander}/phases/crawl/run`);
  });
  afterAll(async () => {
    await end();
    await web.close();
  });

  async function knownFor(one: Operation): Promise<Known> {
    const { service, otherId, id } = world;
    const { operationId } = one.operation;
    const isRead = one.method === 'GET' || operationId === 'query';
    const own = isRead ? await idsForReading(one) : await victimFor(world, web, one);
    let number = 0;
    const pages = (await service.get(`projects/${id}/pages?limit=2`)).body;
    return {
      ids: own.ids,
      strangers: [otherId, pages.items[0].id],
      values: {
        name: Array.from({ length: 40 }, () => `${operationId} ${++number}`),
        website_url: [web.url('/', 2), web.url('/more/1', 2), `127.0.0.3:${web.port}`],
        ...(operationId === 'preview' && { settings: [{ delay_seconds: 0, discover: ['links'] }] }),
        ...{ url: [web.url('/hook'), web.url('/')], secret: [SECRET], events: [['crawl.started']] },
        ...{ token: service.secrets, projects: [[id], null], expires_at: ['2099-01-01T00:00:00Z', null] },
        ...{
          sql: ['SELECT 1', 'SELECT count(*) AS n FROM pages', 'SELECT * FROM pages LIMIT 3', 'nonsense'],
        },
        ...{ params: [[], undefined], budget: ['500/day', null], cron: ['30 3 * * *', null] },
        ...{ time: ['03:30', null], timezone: ['UTC', 'Europe/Berlin'], fetch_only_urls: [null] },
        ...{ cursor: [pages.next_cursor] },
        ...(operationId === 'listChanges' && { '?since': ['last', '1', '2026-01-01T00:00:00Z'] }),
        ...(operationId === 'audit' && { '?run': [1, 2] }),
        ...{ '?url': [world.web.url('/'), world.web.url('/nowhere')], path: ['/', '/docs'] },
        ...(one.path.endsWith('/compare') && { '?from': [1], '?to': [2] }),
        ...(one.path.endsWith('/diff') && { '?from': [1], '?to': [2] }),
        ...(operationId === 'exportProject' && {
          '?what': ['pages', 'links', 'changes', 'report'],
          '?format': ['json', 'csv'],
        }),
      },
    };
  }

  async function idsForReading(one: Operation) {
    const { id } = world;
    const ids: Record<string, string> = { id };
    if (one.path.includes('{run}')) ids.run = '2';
    if (one.path.includes('{pageId}')) ids.pageId = (await world.page('/docs/one')).id;
    if (/\{(viewId|webhookId)\}/.test(one.path)) return await victimFor(world, web, one);
    return { ids };
  }

  it('answers every request as it says, and writes nothing that it refuses', {
    timeout: 300_000,
  }, async () => {
    const judge = createJudge(document);
    const all = operationsOf(document);
    const { url, secrets } = world.service;
    const authorization = `Bearer ${secrets[0]}`;
    for (const one of all) {
      const { operationId } = one.operation;
      const known = await knownFor(one);
      const share = SLOW_ONES.includes(operationId) ? 4 : 1;
      const { valid, broken } = HOW_MANY[store];
      const examples = (EXAMPLES[operationId] ?? []).map((example) => exampleRequest(one, known, example));
      const made = [
        ...examples.map((sent) => ({ sent, isValid: true })),
        ...fc
          .sample(validRequest(document, one, known), { seed, numRuns: Math.ceil(valid / share) })
          .map((sent) => ({ sent, isValid: true })),
        ...fc
          .sample(brokenRequest(document, one, known), { seed, numRuns: Math.ceil(broken / share) })
          .map((sent) => ({ sent, isValid: false })),
      ];
      const isWrite = one.method !== 'GET';
      let before = isWrite ? await whatIsKept(world) : '';
      for (const { sent: bare, isValid } of made) {
        const sent = { ...bare, headers: { authorization, ...bare.headers } };
        const shown = () =>
          `${operationId} ${JSON.stringify({ ...sent, body: sent.body?.toString() }).slice(0, 700)}`;
        let reply: Reply;
        try {
          reply = await send(url, sent, operationId === 'streamEvents');
        } catch (error) {
          faults.push(`${shown()}: ${String(error)}`);
          continue;
        }
        const fault = judge(one, reply);
        if (fault !== null) faults.push(`${shown()}: ${reply.status} ${fault} ${reply.text.slice(0, 300)}`);
        if (isValid && reply.status < 300) succeeded.add(operationId);
        if (!isWrite) continue;
        const after = await whatIsKept(world);
        if (reply.status >= 400 && after !== before)
          faults.push(`${shown()}: ${reply.status} wrote something`);
        before = after;
      }
    }
    expect(faults).toEqual([]);
    expect(all.map(({ operation }) => operation.operationId).filter((name) => !succeeded.has(name))).toEqual(
      [],
    );
    expect(all.length).toBeGreaterThan(60);
  });

  it('is whole afterwards: alive, silent, polite, and what it was crawling has come to its end', async () => {
    const { service } = world;
    expect((await service.get('health')).status).toBe(200);
    isOver = true;
    const phase = await service.until(bystander, ({ status }) => status !== 'in_progress');
    expect(phase).toMatchObject({ status: 'completed', progress: 100, error: null });
    expect(phase.pages_crawled).toBeGreaterThan(20);
    expect(service.log).toEqual([]);
    expect((await service.get(`projects/${bystander}/audit`)).body).toMatchObject({ violations: 0 });
    await service.stop();
    const reading = await openReading(service.address);
    const audit = await auditRuns(reading, undefined);
    await reading.close();
    expect(audit).toMatchObject({ violations: 0 });
  });
});

/** What the service says of itself: version and limits, the options of projects, whether it works, metrics. */
import { z } from 'zod';
import { OPTION_GROUPS, type OptionName } from '../../config/option-table.ts';
import { PROFILES } from '../../config/profiles.ts';
import { PROGRAM_VERSION } from '../../config/program.ts';
import { isProjectOption } from '../../config/who-may-set.ts';
import { listWireSettings } from '../../config/wire-settings.ts';
import { health, info, optionTable } from '../../contract/about.ts';
import { MOST_ITEMS } from '../../contract/lists.ts';
import { sumiError } from '../../errors.ts';
import { isSharedStore } from '../../primitives/store-address.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { MOST_BODY_BYTES } from '../limits.ts';

const TAGS = ['Service'];

export function registerAboutRoutes(app: ApiServer, deps: ApiDeps): void {
  const { clock, options, bodies, storeLabel, engine, side } = deps;
  const startedAt = new Date(clock.now()).toISOString();

  app.get(
    '/info',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getInfo', summary: 'Version, limits and features' },
        response: { 200: info },
      },
      config: { hasTag: true },
    },
    async () => ({
      ...{ name: 'sumi-ripple' as const, version: PROGRAM_VERSION, api: 'v1' as const },
      store: isSharedStore(storeLabel) ? ('postgres' as const) : ('sqlite' as const),
      limits: {
        ...{ max_pages: options.maxPagesLimit, max_running: options.maxRunning },
        ...{ concurrency: options.concurrency, body_bytes: MOST_BODY_BYTES, list_limit: MOST_ITEMS },
        rate_limit: options.rateLimit,
      },
      features: {
        ...{ bodies: bodies !== null, ignoring_robots: options.allowsIgnoringRobots },
        ...{ websocket: app.hasRoute({ method: 'GET', url: '/api/v1/ws' }) },
        mcp: app.hasRoute({ method: 'POST', url: '/mcp' }),
      },
      started_at: startedAt,
    }),
  );

  app.get(
    '/options',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getOptions', summary: 'The settings that a project may have' },
        response: { 200: optionTable },
      },
      config: { hasTag: true },
    },
    async () => OPTION_TABLE,
  );

  app.get(
    '/health',
    {
      config: { scope: 'public' },
      schema: {
        ...{ tags: TAGS, operationId: 'getHealth', summary: 'Whether store and engine answer' },
        security: [],
        response: { 200: health, 503: health },
      },
    },
    async (_, reply) => {
      const isStoreOk = await works(side.projectByUid(NO_PROJECT));
      const state = await settle(engine.state());
      const isOk = isStoreOk && state !== null;
      const word = (isFine: boolean) => (isFine ? ('ok' as const) : ('failing' as const));
      return reply.code(isOk ? 200 : 503).send({
        status: isOk ? 'ok' : 'failing',
        ...{ store: word(isStoreOk), engine: word(state !== null) },
        ...{ running: state?.running ?? null, queued: state?.queued ?? null },
      });
    },
  );

  const served = countAnswers(app);
  app.get(
    '/metrics',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getMetrics', summary: 'Metrics in the text format of Prometheus' },
        response: { 200: { content: { 'text/plain': { schema: z.string() } } } },
      },
    },
    async ({ caller }, reply) => {
      // They name the projects that are crawled.
      if (caller.projects !== null) throw sumiError('projects-only');
      const [runs, state] = await Promise.all([engine.metrics(), engine.state()]);
      const gauges = [
        ...gauge('sumi_service_running', 'Runs under way.', state.running),
        ...gauge('sumi_service_queued', 'Runs that wait for their turn.', state.queued),
        ...gauge('sumi_service_requests_in_flight', 'Requests to sites that are open.', state.inFlight),
        ...served(),
      ];
      return reply
        .header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
        .serializer((text: string) => text)
        .send(`${runs.trimEnd()}\n${gauges.join('\n')}\n`.trimStart());
    },
  );
}

/** Nobody's: asking for it shows that the store answers. */
const NO_PROJECT = '00000000-0000-0000-0000-000000000000';

function gauge(name: string, help: string, value: number): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${value}`];
}

function countAnswers(app: ApiServer): () => string[] {
  const byClass = new Map<string, number>();
  app.addHook('onResponse', async (_, reply) => {
    const name = `${Math.floor(reply.statusCode / 100)}xx`;
    byClass.set(name, (byClass.get(name) ?? 0) + 1);
  });
  const name = 'sumi_service_answers_total';
  return () => [
    `# HELP ${name} Answers of the service by class of status.`,
    `# TYPE ${name} counter`,
    ...[...byClass].sort().map(([status, count]) => `${name}{status="${status}"} ${count}`),
  ];
}

async function works(asked: Promise<unknown>): Promise<boolean> {
  return await asked.then(
    () => true,
    () => false,
  );
}

async function settle<Value>(asked: Promise<Value>): Promise<Value | null> {
  return await asked.catch(() => null);
}

function groupOf(option: OptionName): string {
  return Object.values(OPTION_GROUPS).find(({ options }) => option in options)!.title;
}

const { defaults: SITE_DEFAULTS } = PROFILES.site;

const OPTION_TABLE: z.infer<typeof optionTable> = {
  options: listWireSettings((name) => SITE_DEFAULTS[name as keyof typeof SITE_DEFAULTS] ?? null).map(
    ({ name, option, spec, byDefault }) => ({
      ...{ name, option, type: spec.type, doc: spec.doc, group: groupOf(option), set_by: spec.setBy },
      default: byDefault,
      choices: spec.choices === undefined ? null : [...spec.choices],
      ...{ min: spec.min ?? null, max: spec.max ?? null },
    }),
  ),
  profiles: Object.entries(PROFILES).map(([name, { doc, defaults }]) => ({
    ...{ name, doc },
    defaults: Object.fromEntries(
      Object.entries(defaults)
        .filter(([option]) => isProjectOption(option as OptionName))
        .map(([option, value]) => [option.replaceAll('-', '_'), value]),
    ),
  })),
};

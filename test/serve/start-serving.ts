// A whole service as `sumi serve` makes it, on a free port of this machine, over a store of its own, for tests that ask it as
// a program does. Promises: what a test started is ended after it, whatever happened.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { NewToken } from '../../src/answers/access-tokens.ts';
import { type Serving, startServing } from '../../src/cli/start-serving.ts';
import { openTokens } from '../../src/cli/token.ts';
import { type ConfigSources, loadConfig } from '../../src/config/load-config.ts';
import type { Phase } from '../../src/running/phase.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';

export const STORES = ['SQLite', 'PostgreSQL'] as const;
export type StoreKind = (typeof STORES)[number];

export interface StartOptions {
  store?: StoreKind;
  /** The store of a service before; it stays when this one ends. */
  address?: string;
  /** Options of `sumi serve`, by their camelCase name. The web of this machine may be reached unless it says otherwise. */
  options?: ConfigSources['options'];
  /** Made before the service starts: the secrets are in `service.secrets`, in this order. */
  tokens?: Partial<NewToken>[];
  host?: string;
  /** Sent with every request of `ask`; unless said the first of the tokens. */
  token?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: JSON as a program has it that does not know the schemas.
export type Loose = any;

export interface Answer<Body = Loose> {
  status: number;
  headers: Headers;
  /** Read where it is JSON, else the text. */
  body: Body;
}

export interface AskOptions {
  body?: unknown;
  headers?: Record<string, string>;
  /** Null: no token. */
  token?: string | null;
}

export interface TestService {
  url: string;
  address: string;
  secrets: string[];
  /** What the operator would have read. */
  log: string[];
  serving: Serving;
  /** `path` is relative to /api/v1 where it begins with a name, as `projects`. */
  ask<Body = Loose>(method: string, path: string, options?: AskOptions): Promise<Answer<Body>>;
  get<Body = Loose>(path: string, options?: AskOptions): Promise<Answer<Body>>;
  post<Body = Loose>(path: string, body?: unknown, options?: AskOptions): Promise<Answer<Body>>;
  patch<Body = Loose>(path: string, body: unknown, options?: AskOptions): Promise<Answer<Body>>;
  /** Makes a project, and answers its id. */
  project(name: string, websiteUrl: string, settings?: Record<string, unknown>): Promise<string>;
  /** Starts a run and waits for its end. */
  crawl(id: string, order?: object): Promise<Phase>;
  /** Waits until the phase is as the test wants it: by the events of the engine, without a clock. */
  until(id: string, isSo: (phase: Phase) => boolean): Promise<Phase>;
  stop(): Promise<void>;
}

/** Call once a test file: what it starts is ended after each test. */
export function useService(): (options?: StartOptions) => Promise<TestService> {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return async (options) => {
    const { service, remove } = await startService(options);
    ends.push(remove, () => service.stop());
    return service;
  };
}

/** For files that share one service among their tests: end it with `stop`, then `remove` its store. */
export async function startService({
  store = 'SQLite',
  address: given,
  options = {},
  tokens = [],
  host = '127.0.0.1',
  token: first,
}: StartOptions = {}): Promise<{ service: TestService; remove: () => Promise<void> }> {
  const place = given === undefined ? await newStore(store) : { address: given, remove: async () => {} };
  const isFile = !place.address.startsWith('postgres');
  const config = await loadConfig({
    env: {},
    defaults: { concurrency: 64 },
    options: {
      ...{ egressAllow: ['127.0.0.0/8'], apiRate: 0, keyFile: place.keyFile },
      ...(isFile ? { db: place.address } : { store: place.address }),
      ...options,
    },
  });
  const secrets = await makeTokens(config, tokens);
  const log: string[] = [];
  const serving = await startServing(config, { host, port: 0, log: (line) => void log.push(line) });
  const url = serving.url.replace('0.0.0.0', '127.0.0.1');
  let isStopped = false;

  async function ask(
    method: string,
    path: string,
    { body, headers = {}, token = first ?? secrets[0] ?? null }: AskOptions = {},
  ): Promise<Answer> {
    const whole = path.startsWith('/') ? path : `/api/v1/${path}`;
    const response = await fetch(url + whole, {
      method,
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }

  const service: TestService = {
    ...{ url, address: place.address, secrets, log, serving, ask },
    get: (path, more) => ask('GET', path, more),
    post: (path, body, more) => ask('POST', path, { body, ...more }),
    patch: (path, body, more) => ask('PATCH', path, { body, ...more }),
    async project(name, websiteUrl, settings = {}) {
      const quick = { delay_seconds: 0, adaptive_delay: false, discover: ['links'], ...settings };
      const made = await ask('POST', 'projects', {
        body: { name, website_url: websiteUrl, settings: quick },
      });
      if (made.status !== 201) throw new Error(`${made.status}: ${JSON.stringify(made.body)}`);
      return made.body.id;
    },
    async crawl(id, order) {
      const begun = await ask('POST', `projects/${id}/phases/crawl/run`, { body: order ?? {} });
      if (begun.status !== 202) throw new Error(`${begun.status}: ${JSON.stringify(begun.body)}`);
      return await service.until(id, ({ status }) => status === 'completed' || status === 'failed');
    },
    until: (id, isSo) => untilPhase(serving, id, isSo),
    async stop() {
      if (isStopped) return;
      isStopped = true;
      await serving.close();
    },
  };
  return { service, remove: place.remove };
}

async function untilPhase(
  { answering }: Serving,
  id: string,
  isSo: (phase: Phase) => boolean,
): Promise<Phase> {
  const { engine } = answering;
  let look = () => {};
  const { end } = await engine.listen(id, { pages: false }, () => look());
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        look = resolve;
      });
      const phase = await engine.runs.phase(id);
      if (isSo(phase)) return phase;
      await changed;
    }
  } finally {
    end();
  }
}

async function makeTokens(
  config: Parameters<typeof openTokens>[0],
  wanted: readonly Partial<NewToken>[],
): Promise<string[]> {
  if (wanted.length === 0) return [];
  const { tokens, close } = await openTokens(config);
  const secrets: string[] = [];
  for (const [index, token] of wanted.entries()) {
    const whole: NewToken = {
      name: `t${index}`,
      scopes: ['admin'],
      projects: null,
      expiresAt: null,
      ...token,
    };
    secrets.push((await tokens.create(whole)).secret);
  }
  await close();
  return secrets;
}

async function newStore(
  kind: StoreKind,
): Promise<{ address: string; keyFile?: string; remove: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-service-'));
  const keyFile = join(folder, 'key');
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  if (kind === 'SQLite')
    return { address: join(folder, 'sumi.db'), keyFile, remove: async () => removeFolder() };
  const server = await sharedPostgres();
  const address = await server.newDatabase();
  return {
    ...{ address, keyFile },
    async remove() {
      await server.dropDatabase(address);
      removeFolder();
    },
  };
}

// The files of examples/ that put workers on machines, held against the command's real options and against each other:
// a flag, variable, port, bucket or grace time that does not fit would only be noticed on somebody's servers.
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { type Config, loadConfig } from '../src/config/load-config.ts';
import { startSumi, sumi } from './cli/run-sumi.ts';
import { sharedPostgres } from './servers/shared-postgres.ts';

const ROOT = resolve(import.meta.dirname, '..');
const FILES = [
  ...['compose.yaml', 'kubernetes.yaml', 'sumi-worker.service', 'Dockerfile', '10-many-workers.sh'],
  ...['compose-service.yaml', 'sumi-serve.service'],
];
const METRICS_PORT = 9464;
const SERVICE_PORT = 7864;
const read = (name: string) => readFileSync(join(ROOT, 'examples', name), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'sumi-deploy-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Values = Record<string, string>;

/** KEY=value lines, as an environment file has them. */
function readEnvironment(name: string): Values {
  const lines = read(name).split('\n');
  return Object.fromEntries(
    lines
      .filter((line) => /^\w+=/.test(line))
      .map((line) => [line.split('=', 1)[0], line.replace(/^\w+=/, '')]),
  );
}

const withValues = (text: string, values: Values) =>
  text.replace(/\$\{(\w+)(?::\?[^}]*)?\}/g, (_, name: string) => {
    expect(values, `\${${name}} is in compose.env`).toHaveProperty(name);
    return values[name];
  });

const COMPOSE_VALUES = readEnvironment('compose.env');
interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
}
const readCompose = (name: string) =>
  parse(withValues(read(name), COMPOSE_VALUES), { merge: true }) as Compose;
const compose = readCompose('compose.yaml');
interface Service {
  image: string;
  command: string[];
  environment: Values;
  volumes?: string[];
  ports?: string[];
  profiles?: string[];
  deploy?: { replicas: number };
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  stop_grace_period?: string;
  build?: { context: string; dockerfile: string };
}

/** The real reader of options judges variables and flags; what it refuses, a worker would refuse. */
async function configOf(environment: Values, args: readonly string[]): Promise<Config> {
  const flags: Values = {};
  for (let at = 0; at < args.length; at += 2) flags[args[at].replace('--', '')] = args[at + 1];
  return loadConfig({ env: environment, flags });
}

const helpOf = new Map<string, Promise<string>>();
function help(command: string): Promise<string> {
  const known = helpOf.get(command) ?? sumi([command, '--help']).then(({ stdout }) => stdout);
  helpOf.set(command, known);
  return known;
}

/** Where bodies go and how they are reached is right for this bucket and endpoint. */
function expectBodies(environment: Values, bucket: string): void {
  expect(new URL(environment.SUMI_BODIES).hostname).toBe(bucket);
  for (const name of ['AWS_ENDPOINT_URL', 'AWS_REGION']) expect(environment[name], name).toMatch(/./);
}

describe('every sumi command in the examples', () => {
  /** Comments tell commands too: `sumi WORD …` up to the end of the line. Flags given by an array stand alone. */
  const commands = FILES.flatMap((name) =>
    [
      ...read(name).matchAll(
        /(?:\bsumi|"\$\{sumi\[@\]\}") (worker|crawl|workers|report|audit|serve|token)\b([^\n]*)/g,
      ),
    ].map(([line, command, rest]) => ({ name, line, command, flags: rest.match(/(?<=\s)--[a-z-]+/g) ?? [] })),
  );

  it('exists, and knows its flags', async () => {
    expect(new Set(commands.map(({ name }) => name)).size).toBeGreaterThanOrEqual(4);
    expect(commands.flatMap(({ flags }) => flags).length).toBeGreaterThan(5);
    for (const { name, line, command, flags } of commands) {
      const text = await help(command);
      expect(text, `${name}: ${line}`).toContain(`sumi ${command}`);
      for (const flag of flags) {
        expect(text, `${name}: ${line}`).toMatch(new RegExp(`(^|[ ,])${flag}\\b(?!-)`, 'm'));
      }
    }
  });
});

describe('compose.yaml', () => {
  const { postgres, minio, bucket, worker, sumi: single } = compose.services;

  it('has PostgreSQL, an S3 store and three workers that wait for both', () => {
    expect(postgres.image).toMatch(/^postgres:\d+$/);
    expect(minio.image).toMatch(/^minio\/minio:RELEASE/);
    expect(worker.deploy?.replicas).toBe(3);
    expect(worker.depends_on).toEqual({
      postgres: { condition: 'service_healthy' },
      bucket: { condition: 'service_completed_successfully' },
    });
    expect(bucket.depends_on).toEqual({ minio: { condition: 'service_healthy' } });
    for (const name of ['postgres', 'minio']) expect(compose.services[name].healthcheck).toBeDefined();
  });

  it('gives workers options that the command takes, and a store that is there', async () => {
    const [command, ...flags] = worker.command;
    expect(command).toBe('worker');
    const text = await help('worker');
    for (const flag of flags.filter((word) => word.startsWith('--'))) expect(text).toContain(flag);
    const config = await configOf(worker.environment, flags);
    const store = new URL(config.storeAddress);
    expect(compose.services).toHaveProperty(store.hostname);
    expect(store.username).toBe(postgres.environment.POSTGRES_USER);
    expect(store.password).toBe(postgres.environment.POSTGRES_PASSWORD);
    expect(store.pathname).toBe(`/${postgres.environment.POSTGRES_DB}`);
    expect([config.metricsPort, config.metricsHost]).toEqual([METRICS_PORT, '0.0.0.0']);
    expect(config.leaseSeconds).toBeGreaterThanOrEqual(3);
    expect(Number.parseInt(worker.stop_grace_period!, 10)).toBeGreaterThan(config.drainSeconds);
    expect((await configOf(single.environment, [])).storeAddress).toBe(config.storeAddress);
  });

  it('keeps bodies in the bucket it makes, with the account of the store', () => {
    expectBodies(worker.environment, bucket.command.at(-1)!.split('/')[1]);
    const endpoint = new URL(worker.environment.AWS_ENDPOINT_URL);
    expect([endpoint.hostname, endpoint.port]).toEqual(['minio', '9000']);
    expect(worker.environment.AWS_ACCESS_KEY_ID).toBe(minio.environment.MINIO_ROOT_USER);
    expect(worker.environment.AWS_SECRET_ACCESS_KEY).toBe(minio.environment.MINIO_ROOT_PASSWORD);
    const alias = bucket.command.at(-1)!.split('/')[0];
    expect(new URL(bucket.environment[`MC_HOST_${alias}`]).host).toBe('minio:9000');
  });

  it('asks for health where it is told, with a check that fails when nobody answers', () => {
    const [kind, program, ...args] = worker.healthcheck!.test;
    expect([kind, program]).toEqual(['CMD', 'node']);
    expect(args.at(-1)).toContain(`http://127.0.0.1:${METRICS_PORT}/readyz`);
    const nobody = args.map((arg) => arg.replace(String(METRICS_PORT), '1'));
    expect(spawnSync(process.execPath, nobody, { stdio: 'ignore' }).status).toBe(1);
  });

  it('declares the volumes it uses and builds from files that are there', () => {
    expectVolumes(compose);
    const context = join(ROOT, 'examples', worker.build!.context);
    expect(existsSync(join(context, worker.build!.dockerfile))).toBe(true);
  });

  it('is accepted by Compose itself', (context) => {
    const accepted = acceptedByCompose('compose.yaml');
    if (accepted === null) return context.skip(NO_COMPOSE);
    expect(accepted).toContain('worker');
  });
});

describe('compose-service.yaml', () => {
  const { services } = readCompose('compose-service.yaml');
  const { postgres, serve, worker, sumi: single } = services;

  it('has PostgreSQL, one service that waits for it, and workers for who wants them', () => {
    for (const one of [serve, worker, single])
      expect(one.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    expect(postgres.image).toBe(compose.services.postgres.image);
    expect([worker.profiles, single.profiles, serve.profiles]).toEqual([['workers'], ['command'], undefined]);
    expectVolumes(readCompose('compose-service.yaml'));
  });

  it('gives the service options that the command takes, and the store and key file that are there', async () => {
    const [command, ...flags] = serve.command;
    expect(command).toBe('serve');
    const text = await help('serve');
    for (const flag of flags.filter((word) => word.startsWith('--'))) expect(text, flag).toContain(flag);
    const config = await configOf(serve.environment, flags.slice(4));
    const store = new URL(config.storeAddress);
    expect([store.hostname, store.username]).toEqual(['postgres', postgres.environment.POSTGRES_USER]);
    expect(store.password).toBe(postgres.environment.POSTGRES_PASSWORD);
    for (const one of [worker, single])
      expect((await configOf(one.environment, [])).storeAddress).toBe(config.storeAddress);
    const [, folderOfKey] = serve.volumes![0].split(':');
    expect(config.keyFile).toBe(`${folderOfKey}/sumi.key`);
    // A volume of root could not be written by the user of the image.
    expect(read('Dockerfile')).toContain(`install -d -o node -g node ${folderOfKey}`);
    expect(serve.ports).toEqual([`127.0.0.1:${SERVICE_PORT}:${SERVICE_PORT}`]);
    expect(flags.slice(0, 4)).toEqual(['--host', '0.0.0.0', '--port', String(SERVICE_PORT)]);
  });

  it('starts once there is a token, and its check asks for health as it is told', {
    timeout: 60_000,
  }, async () => {
    const flags = serve.command.slice(1).map((word) => (word === String(SERVICE_PORT) ? '0' : word));
    const databases = await sharedPostgres();
    const store = await databases.newDatabase();
    const env = { SUMI_STORE: store, SUMI_KEY_FILE: join(folder, 'sumi.key') };
    try {
      const refused = await sumi(['serve', ...flags], { env });
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('sumi token create')]);
      const tokenLine = /run --rm sumi (token create .*)$/m.exec(read('compose-service.yaml'))![1];
      expect(await sumi(tokenLine.split(' '), { env })).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^sumi_\S+\n$/),
        stderr: expect.stringContaining('for web: keep it'),
      });
      const { child, finished } = startSumi(['serve', ...flags, '--json'], { env });
      const [line] = await once(child.stdout!, 'data');
      const { url } = JSON.parse(String(line)) as { url: string };
      const [kind, , ...args] = serve.healthcheck!.test;
      expect(kind).toBe('CMD');
      const check = (port: string) => args.map((arg) => arg.replace(`:${SERVICE_PORT}/`, `:${port}/`));
      expect(spawnSync(process.execPath, check(new URL(url).port)).status).toBe(0);
      child.kill('SIGTERM');
      expect((await finished).code).toBe(0);
      expect(spawnSync(process.execPath, check('1'), { stdio: 'ignore' }).status).toBe(1);
    } finally {
      await databases.dropDatabase(store);
    }
  });

  it('is accepted by Compose itself', (context) => {
    const accepted = acceptedByCompose('compose-service.yaml');
    if (accepted === null) return context.skip(NO_COMPOSE);
    expect(accepted.sort()).toEqual(['postgres', 'serve']);
  });
});

function expectVolumes({ services, volumes }: Compose): void {
  const used = Object.values(services).flatMap((one) => (one.volumes ?? []).map((v) => v.split(':')[0]));
  expect(used.sort()).toEqual(Object.keys(volumes).sort());
}

const NO_COMPOSE = 'neither `docker compose` nor docker-compose is installed';

/** The services that Compose would start; null where it is not installed. */
function acceptedByCompose(name: string): string[] | null {
  const tools = [['docker', 'compose'], ['docker-compose']];
  const tool = tools.find(([program, ...args]) => spawnSync(program, [...args, 'version']).status === 0);
  if (tool === undefined) return null;
  copyFileSync(join(ROOT, 'examples', name), join(folder, name));
  copyFileSync(join(ROOT, 'examples/compose.env'), join(folder, '.env'));
  const [program, ...args] = tool;
  const printed = execFileSync(program, [...args, '-f', name, 'config'], { cwd: folder, encoding: 'utf8' });
  return Object.keys((parse(printed) as Compose).services);
}

const unitOf = (name: string) =>
  new Map(
    read(name)
      .split('\n')
      .filter((line) => /^\w+=/.test(line))
      .map((line): [string, string] => [line.split('=', 1)[0], line.replace(/^\w+=/, '')]),
  );

/** Null where systemd is not installed. What is wrong otherwise; the program and its file are not installed here. */
function refusedBySystemd(name: string, environmentFile: string): string[] | null {
  if (spawnSync('systemd-analyze', ['--version']).error !== undefined) return null;
  const text = read(name)
    .replaceAll('/usr/local/bin/sumi', process.execPath)
    .replaceAll(environmentFile, join(ROOT, 'examples/sumi-worker.env'));
  const file = join(folder, name);
  writeFileSync(file, text);
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  const told = stderr.split('\n').filter((line) => line.includes(name.split('.')[0]));
  return status === 0 ? told : [...told, `it ended with ${status}`];
}

describe('sumi-worker.service', () => {
  const unit = unitOf('sumi-worker.service');

  it('starts a worker and gives it more time than its drain', async () => {
    expect(unit.get('ExecStart')).toMatch(/\/sumi worker$/);
    const config = await configOf(readEnvironment('sumi-worker.env'), []);
    expect(Number(unit.get('TimeoutStopSec'))).toBeGreaterThan(config.drainSeconds);
    expect(unit.get('KillSignal')).toBe('SIGTERM');
    expect(config.metricsPort).toBe(METRICS_PORT);
    expect(new URL(config.storeAddress).protocol).toBe('postgres:');
    expectBodies(readEnvironment('sumi-worker.env'), 'sumi-bodies');
  });

  it('is accepted by systemd', (context) => {
    const refused = refusedBySystemd('sumi-worker.service', '/etc/sumi/worker.env');
    if (refused === null) return context.skip('systemd-analyze is not installed');
    expect(refused).toEqual([]);
  });
});

describe('sumi-serve.service', () => {
  const unit = unitOf('sumi-serve.service');
  const environment = readEnvironment('sumi-serve.env');
  const state = `/var/lib/${unit.get('StateDirectory')}`;

  it('starts the service for this machine, with database and key file in its own folder', async () => {
    const [program, command, ...flags] = unit.get('ExecStart')!.split(' ');
    expect([program, command]).toEqual(['/usr/local/bin/sumi', 'serve']);
    expect(flags).toEqual(['--host', '127.0.0.1', '--port', String(SERVICE_PORT)]);
    const config = await configOf(environment, []);
    expect(config.storeAddress).toBe(`${state}/sumi.db`);
    expect(config.keyFile).toBe(`${state}/sumi.key`);
    expect(unit.get('EnvironmentFile')).toBe('/etc/sumi/serve.env');
    expect([unit.get('KillSignal'), unit.get('RestartPreventExitStatus')]).toEqual(['SIGTERM', '2']);
    expect(read('sumi-serve.service')).toContain(`--db ${config.storeAddress}`);
  });

  it('takes variables that the command knows, those that are off included', async () => {
    const off = [...read('sumi-serve.env').matchAll(/^# (SUMI_\w+)=(.*)$/gm)].map(([, name, value]) => [
      name,
      value,
    ]);
    expect(off).toHaveLength(2);
    const { SUMI_DB: _, ...others } = environment;
    const config = await configOf({ ...others, ...Object.fromEntries(off) }, []);
    expect(new URL(config.storeAddress).protocol).toBe('postgres:');
    const text = await help('serve');
    for (const name of [...Object.keys(environment), ...off.map(([name]) => name)])
      expect(text, name).toContain(`--${name.replace('SUMI_', '').toLowerCase().replaceAll('_', '-')}`);
  });

  it('is as closed to the machine as that of the workers', () => {
    const worker = unitOf('sumi-worker.service');
    const closes = [...worker].filter(([name]) =>
      /^(?:Protect|Restrict|Private|Lock|NoNew|Capab|UMask)/.test(name),
    );
    expect(closes.length).toBeGreaterThan(15);
    expect([...unit]).toEqual(expect.arrayContaining(closes));
  });

  it('is accepted by systemd', (context) => {
    const refused = refusedBySystemd('sumi-serve.service', '/etc/sumi/serve.env');
    if (refused === null) return context.skip('systemd-analyze is not installed');
    expect(refused).toEqual([]);
  });
});

interface Container {
  args: string[];
  env: { name: string; valueFrom: { secretKeyRef: { name: string; key: string } } }[];
  envFrom: { configMapRef: { name: string } }[];
  ports: { name: string; containerPort: number }[];
  livenessProbe: { httpGet: { path: string; port: string } };
  readinessProbe: { httpGet: { path: string; port: string } };
}
interface Metric {
  type: string;
  external?: { metric: { name: string } };
}
interface Manifest {
  kind: string;
  metadata: { name: string; namespace: string };
  data: Values;
  spec: {
    replicas?: number;
    selector: { matchLabels: Values };
    template: {
      metadata: { labels: Values; annotations: Values };
      spec: { containers: Container[]; terminationGracePeriodSeconds: number };
    };
    scaleTargetRef: { kind: string; name: string };
    metrics: Metric[];
  };
}

describe('kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('kubernetes.yaml'));
  const manifests = documents.map((document) => document.toJS() as Manifest);
  const of = (kind: string) => manifests.find((manifest) => manifest.kind === kind)!;
  const deployment = of('Deployment');
  const pod = deployment.spec.template;
  const [container] = pod.spec.containers;

  it('is one namespace of a Deployment, its configuration, its budget and its scaling', () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    expect(manifests.map(({ kind }) => kind).sort()).toEqual([
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'PodDisruptionBudget',
    ]);
    expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['sumi']));
  });

  it('finds its own pods', () => {
    for (const kind of ['Deployment', 'PodDisruptionBudget']) {
      expect(of(kind).spec.selector.matchLabels).toEqual(pod.metadata.labels);
    }
    expect(container.envFrom).toEqual([{ configMapRef: { name: of('ConfigMap').metadata.name } }]);
  });

  it('gives the worker options it takes, and longer than its drain to stop', async () => {
    const [command, ...flags] = container.args;
    expect(command).toBe('worker');
    const config = await configOf(of('ConfigMap').data, flags);
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(config.drainSeconds);
    expect([config.metricsPort, config.metricsHost]).toEqual([METRICS_PORT, '0.0.0.0']);
    expectBodies(of('ConfigMap').data, 'sumi-bodies');
  });

  it('takes secrets by reference only, under the keys its first lines make', () => {
    const [secret] = /create secret generic (\S+)/.exec(read('kubernetes.yaml'))!.slice(1);
    const keys = [...read('kubernetes.yaml').matchAll(/--from-literal=([\w-]+)=/g)].map(([, key]) => key);
    const references = container.env.map(({ valueFrom }) => valueFrom.secretKeyRef);
    expect(references.map(({ key }) => key).sort()).toEqual(keys.sort());
    expect(new Set(references.map(({ name }) => name))).toEqual(new Set([secret]));
    expect(container.env.map(({ name }) => name)).toEqual([
      'SUMI_STORE',
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
    ]);
    expect(Object.keys(of('ConfigMap').data).filter((name) => /SECRET|KEY|STORE/.test(name))).toEqual([]);
  });

  it('probes and scrapes the port that the worker opens', () => {
    const [port] = container.ports;
    expect(port.containerPort).toBe(METRICS_PORT);
    expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: port.name });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: port.name });
    expect(pod.metadata.annotations).toMatchObject({
      'prometheus.io/port': String(METRICS_PORT),
      'prometheus.io/path': '/metrics',
    });
  });

  it('scales by a metric that workers tell, and leaves the number to the autoscaler', () => {
    const { spec } = of('HorizontalPodAutoscaler');
    expect(spec.scaleTargetRef).toMatchObject({ kind: 'Deployment', name: deployment.metadata.name });
    expect(deployment.spec.replicas).toBeUndefined();
    const names = spec.metrics.flatMap(({ external }) =>
      external === undefined ? [] : [external.metric.name],
    );
    expect(names).toEqual(['sumi_hosts_waiting']);
    expect(readFileSync(join(ROOT, 'src/events/metrics.ts'), 'utf8')).toContain(`'${names[0]}'`);
  });
});

describe('Dockerfile', () => {
  const lines = read('Dockerfile').split('\n');

  it('copies files that are there, and starts the command of the package', () => {
    const copies = lines.filter((line) => /^COPY (?!--from)/.test(line));
    const sources = copies.flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(sources).toContain('src');
    expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([]);
    const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      bin: Values;
    };
    expect(read('Dockerfile')).toContain(
      `ln -s /sumi/node_modules/sumi-ripple/${bin.sumi} /usr/local/bin/sumi`,
    );
    // A Node for which the SQLite driver comes ready-made.
    expect(lines).toContain('ARG NODE=24');
    expect(lines).toContain(`EXPOSE ${METRICS_PORT} ${SERVICE_PORT}`);
    expect(lines.filter((line) => line.startsWith('FROM '))).toHaveLength(2);
    expect(lines).toContain('USER node');
  });
});

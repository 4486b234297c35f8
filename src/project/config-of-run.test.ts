import { describe, expect, it } from 'vitest';
import { camelCase, type OptionSpec } from '../config/option-spec.ts';
import { OPTION_NAMES, OPTIONS, type OptionName } from '../config/option-table.ts';
import { configOfRun, recordedConfig } from './config-of-run.ts';

/** What somebody who may write to the store could put there. */
const FORGED: Partial<Record<OptionName, unknown>> = {
  'on-change': 'rm -rf /',
  'webhook-secret-file': '/etc/shadow',
  'webhook-secret': 'x',
  webhook: ['https://evil.example/'],
  'webhook-allow': ['10.0.0.1'],
  proxy: 'http://evil.example:1',
  resolve: ['example.com=10.0.0.1'],
  header: ['X: y'],
  cookie: 'a=b',
  auth: 'me:pass',
  bodies: 'files:/etc',
  robots: false,
  'robots-unreachable': 'allow',
  'max-hosts': 1_000_000,
  'lease-seconds': 3600,
  'drain-seconds': 3600,
  'store-patience': 86_400,
  'metrics-port': 9,
  'metrics-host': '0.0.0.0',
  'egress-allow': ['10.0.0.0/8'],
  'allowed-host': ['evil.example'],
  'require-token': true,
  'max-running': 99,
  'max-pages-limit': 999_999_999,
  'on-restart': 'fail',
  'key-file': '/etc/key',
  'api-rate': 1_000_000,
  db: '/etc/x.db',
  store: 'postgres://evil.example/x',
  budget: '999999999/day',
  'host-budget': '999999999/day',
  hours: '1-2',
  every: 1,
  config: '/etc/passwd',
  urls: '/etc/passwd',
  project: 'other',
  isolated: true,
  meta: ['a=b'],
  fresh: true,
  json: true,
  format: 'csv',
  quiet: true,
  verbose: 9,
};
const runWith = (options: Record<string, unknown>) => ({
  run: 7,
  config: JSON.stringify({ 'start-urls': ['https://example.com/'], delay: 3, ...options }),
});
const isNotPassedOn = (name: OptionName) =>
  OPTIONS[name].setBy !== 'project' || OPTIONS[name].ofRun === false;

describe('the stored options of a run', () => {
  it('pass on its start URLs and what a project may set', async () => {
    const config = await configOfRun(runWith({ mode: 'smart', 'user-agent': 'Bot/1' }), { env: {} });
    expect(config).toMatchObject({
      ...{ startUrls: ['https://example.com/'], delay: 3, mode: 'smart', userAgent: 'Bot/1' },
    });
  });

  it('are tried with a forged value for every option that is not passed on but start-urls', () => {
    const names = OPTION_NAMES.filter((name) => isNotPassedOn(name) && name !== 'start-urls');
    expect(Object.keys(FORGED).sort()).toEqual(names.sort());
  });

  it.each(Object.entries(FORGED))('pass on no %s to whoever goes on with it', async (name, value) => {
    const spec: OptionSpec = OPTIONS[name as OptionName];
    const isRefusal = spec.setBy === 'operator' && spec.hashed !== false;
    const made = configOfRun(runWith({ [name]: value }), { env: {} });
    if (isRefusal) await expect(made).rejects.toMatchObject({ code: 'operator-options-missing' });
    else expect((await made).sources[name as OptionName].value).toEqual(spec.default);
  });

  it('that shape the crawl have to be given again, and the error says how', async () => {
    const { robots, bodies, resolve } = FORGED;
    const run = runWith({ robots, bodies, resolve });
    await expect(configOfRun(run, { env: {}, here: { robots: false } })).rejects.toMatchObject({
      code: 'operator-options-missing',
      message: expect.stringMatching(/^Run 7 was started with --resolve, --bodies\./),
      hint: expect.stringContaining('--resolve "example.com=10.0.0.1" --bodies "files:/etc"'),
    });
    const here = { robots: false, bodies: 'files:mine', resolve: ['example.com=127.0.0.1'] };
    expect(await configOfRun(run, { env: {}, here })).toMatchObject(here);
    expect(await configOfRun(run, { env: {}, options: here })).toMatchObject(here);
    await expect(configOfRun(runWith({ robots }), { env: {} })).rejects.toMatchObject({
      hint: expect.stringContaining('--no-robots'),
    });
  });

  it('that were not used to begin it are not brought in by this machine: robots.txt stays obeyed', async () => {
    const here = { robots: false, robotsUnreachable: 'allow', resolve: ['a=127.0.0.1'] } as const;
    expect(await configOfRun(runWith({}), { env: {}, here })).toMatchObject({
      ...{ robots: true, robotsUnreachable: 'disallow', resolve: [] },
    });
  });

  it('are told as they were to who only reads, without what would run, write or send', async () => {
    const config = await recordedConfig(runWith(FORGED));
    expect(config).toMatchObject({ robots: false, bodies: 'files:/etc', resolve: ['example.com=10.0.0.1'] });
    for (const name of [
      'on-change',
      'config',
      'db',
      'store',
      'proxy',
      'webhook-secret-file',
      'urls',
    ] as const)
      expect(config[camelCase(name)], name).toEqual(OPTIONS[name].default);
  });
});

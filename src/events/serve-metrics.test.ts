import { afterEach, describe, expect, it } from 'vitest';
import { SumiError } from '../errors.ts';
import { type MetricsServer, type MetricsSource, serveMetrics } from './serve-metrics.ts';

let servers: MetricsServer[] = [];
afterEach(async () => {
  for (const server of servers) await server.close();
  servers = [];
});

async function serve(more: Partial<MetricsSource> = {}): Promise<(path: string) => Promise<Response>> {
  const server = await serveMetrics({
    version: '1.2.3',
    port: 0,
    host: '127.0.0.1',
    loops: () => [],
    ...more,
  });
  servers.push(server);
  return (path) => fetch(server.origin + path);
}

describe('the metrics server', () => {
  it('says that the process lives', async () => {
    const ask = await serve();
    const answer = await ask('/healthz');
    expect([answer.status, await answer.text()]).toEqual([200, 'ok\n']);
  });

  it('is ready while the store answers, and says why when it is not', async () => {
    let silentMs = 5_000;
    const ask = await serve({ storeSilentMs: () => silentMs });
    expect((await ask('/readyz')).status).toBe(200);
    silentMs = 45_000;
    const answer = await ask('/readyz');
    expect([answer.status, await answer.text()]).toEqual([503, 'the store has not answered for 45 s\n']);
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('serves metrics as Prometheus reads them', async () => {
    const ask = await serve({ hostsWaiting: async () => 17 });
    const answer = await ask('/metrics');
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await answer.text();
    expect(text).toContain('\nsumi_hosts_waiting 17\n');
    expect(text).toMatch(/\nsumi_memory_resident_bytes \d{6,}\n/);
  });

  it('answers with the reason when the figures cannot be had', async () => {
    const ask = await serve({ hostsWaiting: () => Promise.reject(new Error('gone')) });
    const answer = await ask('/metrics');
    expect([answer.status, await answer.text()]).toEqual([503, 'gone\n']);
  });

  it('knows no other paths, and only lets itself be read', async () => {
    const ask = await serve();
    expect((await ask('/')).status).toBe(404);
    const posted = await fetch(`${servers[0].origin}/metrics`, { method: 'POST' });
    expect(posted.status).toBe(405);
  });

  it('refuses a port that is taken, by an error that names it', async () => {
    await serve();
    const port = Number(new URL(servers[0].origin).port);
    const second = serveMetrics({ version: '', port, host: '127.0.0.1', loops: () => [] });
    const error = await second.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SumiError);
    expect(error).toMatchObject({
      code: 'metrics-port',
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
  });
});

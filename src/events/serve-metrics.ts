/**
 * A small HTTP server for monitoring: /healthz (the process lives), /readyz (its store answered recently), /metrics
 * (Prometheus text). Read only.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sumiError } from '../errors.ts';
import { type LoopReading, renderMetrics } from './metrics.ts';

/** Longer than the time between two heartbeats or two searches for runs. */
const SILENT_TOO_LONG_MS = 20_000;

export interface MetricsSource {
  /** Of the program. */
  version: string;
  port: number;
  host: string;
  loops: () => readonly LoopReading[];
  /** Milliseconds since the last answer of the store, if something besides the loops asks it. */
  storeSilentMs?: () => number;
  /** Null if it is not known. */
  hostsWaiting?: () => Promise<number>;
}

export interface MetricsServer {
  /** Where it listens, such as http://127.0.0.1:9464. */
  readonly origin: string;
  close(): Promise<void>;
}

export async function serveMetrics(source: MetricsSource): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8') => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : body);
    };
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, 'only GET\n');
    switch (request.url?.split('?', 1)[0]) {
      case '/healthz':
        return answer(200, 'ok\n');
      case '/readyz': {
        const reason = whyNotReady(source);
        return answer(reason === null ? 200 : 503, `${reason ?? 'ready'}\n`);
      }
      case '/metrics':
        metricsOf(source).then(
          (text) => answer(200, text, 'text/plain; version=0.0.4; charset=utf-8'),
          (error: unknown) => answer(503, `${error instanceof Error ? error.message : String(error)}\n`),
        );
        return;
      default:
        return answer(404, 'there are /healthz, /readyz and /metrics\n');
    }
  });
  await listen(server, source);
  // Monitoring must not keep a finished process alive.
  server.unref();
  const { address, port, family } = server.address() as AddressInfo;
  return {
    origin: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: ReturnType<typeof createServer>, { port, host }: MetricsSource): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(sumiError('metrics-port', { address: `${host}:${port}`, reason: error.message }, error));
    });
    server.listen(port, host, resolve);
  });
}

function whyNotReady({ loops, storeSilentMs }: MetricsSource): string | null {
  const silentMs = Math.max(storeSilentMs?.() ?? 0, ...loops().map((loop) => loop.storeSilentMs));
  if (silentMs <= SILENT_TOO_LONG_MS) return null;
  return `the store has not answered for ${Math.round(silentMs / 1000)} s`;
}

async function metricsOf(source: MetricsSource): Promise<string> {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return renderMetrics(source.loops(), {
    residentBytes: rss,
    heapBytes: heapUsed,
    cpuSeconds: (user + system) / 1e6,
    upSeconds: process.uptime(),
    hostsWaiting: (await source.hostsWaiting?.()) ?? null,
    version: source.version,
  });
}

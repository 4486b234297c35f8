// Stands between a client and a server and makes trouble on demand: refuses, answers errors of its own, or takes its
// time. What it passes on it leaves as it is, so that signatures stay good.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../src/primitives/clock.ts';

export interface FaultProxy {
  endpoint: string;
  /** Requests seen, as `METHOD /path`. */
  seen: string[];
  /** Most requests that were open at one time. */
  readonly mostAtOnce: number;
  /** Cuts every connection and takes no new ones. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** Asked for each request. */
  answerWith(fault: Fault | null): void;
  /** Answers come so much later. */
  delay(ms: number, clock: Clock): void;
  close(): Promise<void>;
}

/** An answer in place of the server's, 'lost' to pass the request on and drop its answer, or null for no fault. */
export type Fault = (request: IncomingMessage) => FaultAnswer | 'lost' | null;

export interface FaultAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** As S3 says that something went wrong. */
export function s3Error(status: number, code: string, headers: Record<string, string> = {}): FaultAnswer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>of the proxy</Message></Error>`;
  return { status, body, headers: { 'content-type': 'application/xml', ...headers } };
}

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port } = new URL(target);
  const seen: string[] = [];
  let fault: Fault | null = null;
  let [open, mostAtOnce] = [0, 0];
  let later: (send: () => void) => void = (send) => send();

  function pass(from: IncomingMessage, to: ServerResponse, isLost: boolean): void {
    const { method, url, headers } = from;
    const onward = request({ hostname, port, method, path: url, headers }, (answer) => {
      if (isLost) return void answer.resume().once('end', () => to.destroy());
      later(() => {
        to.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(to);
      });
    });
    onward.on('error', () => to.destroy());
    from.on('error', () => onward.destroy());
    from.pipe(onward);
  }

  const server = createServer((from, to) => {
    seen.push(`${from.method} ${from.url}`);
    mostAtOnce = Math.max(mostAtOnce, ++open);
    to.once('close', () => open--);
    const answer = fault?.(from) ?? null;
    if (answer === null || answer === 'lost') return pass(from, to, answer === 'lost');
    from.resume().once('end', () => to.writeHead(answer.status, answer.headers).end(answer.body));
  });
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(at, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  const goAway = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  return {
    endpoint: `http://127.0.0.1:${own}`,
    seen,
    get mostAtOnce() {
      return mostAtOnce;
    },
    goAway,
    comeBack: () => listen(own),
    answerWith(next) {
      fault = next;
    },
    delay(ms, clock) {
      later = ms === 0 ? (send) => send() : (send) => void clock.after(ms, send);
    },
    close: async () => {
      if (server.listening) await goAway();
    },
  };
}

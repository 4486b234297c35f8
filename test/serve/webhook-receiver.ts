// A receiver of webhooks on this machine: keeps what came, answers as it is told.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import type { WebhookPayload } from '../../src/running/webhooks/webhook-payload.ts';

export interface Received {
  headers: IncomingHttpHeaders;
  text: string;
  body: WebhookPayload;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Status of the next answers; the last one is for all others. Null: the connection is cut. */
  answers: (number | null)[];
  /** Resolves when so many have come. */
  count(least: number): Promise<void>;
  types(): string[];
}

/** Call once a test file. */
export function useReceivers(): () => Promise<Receiver> {
  const closings: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closings.splice(0)) await close();
  });
  return async () => {
    const received: Received[] = [];
    let waiting: { least: number; resolve: () => void }[] = [];
    const receiver: Receiver = {
      url: '',
      received,
      answers: [204],
      count: (least) =>
        new Promise((resolve) => {
          if (received.length >= least) resolve();
          else waiting.push({ least, resolve });
        }),
      types: () => received.map(({ body }) => body.type),
    };
    const server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      request.on('end', () => {
        received.push({ headers: request.headers, text, body: JSON.parse(text) as WebhookPayload });
        const { answers } = receiver;
        const status = answers.length > 1 ? answers.shift()! : answers[0];
        if (status === null) request.socket.destroy();
        else response.writeHead(status, status === 302 ? { location: receiver.url } : {}).end();
        for (const { least, resolve } of waiting) if (received.length >= least) resolve();
        waiting = waiting.filter(({ least }) => received.length < least);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closings.push(
      () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    );
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/pass-word-path`;
    return receiver;
  };
}

// A client for the fake web's own tests: plain node:http, one connection a request, everything that happened as data.
import { type IncomingHttpHeaders, request } from 'node:http';

export interface Heard {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Informational answers before the final one. */
  informational: number[];
  /** The code of the error that ended it, when it did not end well. */
  error: string | undefined;
}

export interface AskOptions {
  method?: string;
  headers?: Record<string, string>;
  /** Hang up on purpose once so many bytes of the body have come. */
  stopAfterBytes?: number;
}

export function ask(url: string, options: AskOptions = {}): Promise<Heard> {
  return new Promise((resolve) => {
    const heard: Heard = {
      status: 0,
      headers: {},
      body: Buffer.alloc(0),
      informational: [],
      error: undefined,
    };
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (error?: NodeJS.ErrnoException) =>
      resolve({ ...heard, body: Buffer.concat(chunks), error: error?.code ?? error?.message });
    const outgoing = request(
      url,
      { method: options.method, headers: options.headers, agent: false },
      (incoming) => {
        heard.status = incoming.statusCode ?? 0;
        heard.headers = incoming.headers;
        incoming.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes >= (options.stopAfterBytes ?? Number.POSITIVE_INFINITY)) incoming.destroy();
        });
        incoming.on('error', finish);
        incoming.on('close', () => finish());
      },
    );
    outgoing.on('information', (info) => heard.informational.push(info.statusCode));
    outgoing.on('error', finish);
    outgoing.end();
  });
}

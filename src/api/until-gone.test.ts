import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { dropStalled } from './until-gone.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A client that is given the answer as a stream, which it does not read by itself. */
async function open(answer: (response: ServerResponse) => void) {
  const server = createServer((_, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  const { port } = server.address() as AddressInfo;
  const asked = request({ port, host: '127.0.0.1', agent: false }).end();
  return asked;
}

describe('an answer', () => {
  it('that nobody takes is cut off', async () => {
    const answered: { response?: ServerResponse } = {};
    const cut = new Promise<void>((resolve) => {
      open((response) => {
        answered.response = response;
        dropStalled(response, 50);
        response.once('close', resolve);
        response.write(Buffer.alloc(64 * 1024 * 1024));
      }).then((asked) => asked.on('response', () => {}).on('error', () => {}));
    });
    await cut;
    expect(answered.response?.writableFinished).toBe(false);
  });

  it('that takes long to be made is not', async () => {
    const asked = await open((response) => {
      dropStalled(response, 20);
      response.write('begun');
      response.once('timeout', () => response.end(', and over'));
    });
    const body = await new Promise<string>((resolve, reject) => {
      asked.on('response', (response) => resolve(text(response))).on('error', reject);
    });
    expect(body).toBe('begun, and over');
  });
});

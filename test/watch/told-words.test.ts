// What receivers of a watch's events are told of a page: the words that changed, on standard output and by webhook.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { makeFolder, sumi } from '../cli/run-sumi.ts';
import { answer, type Exchange, startFakeWeb } from '../web/fake-web.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it('an event has the words that changed, the same for the log and for a webhook', async () => {
  const folder = makeFolder();
  closing.push(() => folder.remove());
  let price = 'ten';
  const web = await startFakeWeb({
    pages: {
      '/': (exchange: Exchange) =>
        answer(exchange, {
          body: `<!doctype html><title>Ink</title><main><p>Ink costs ${price} coins.</p></main>`,
        }),
    },
  });
  closing.push(() => web.close());
  const received: Record<string, unknown>[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      received.push(JSON.parse(body));
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => receiver.close(resolve)));
  const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const db = folder.file('sumi.db');
  await sumi(['crawl', web.url('/'), '--db', db, '--delay', '0', '--quiet']);
  price = 'twelve gold';
  const { code, stdout } = await sumi([
    ...['watch', '--once', '--json', '--db', db],
    ...['--webhook', webhook, '--webhook-allow', '127.0.0.1'],
  ]);
  expect(code).toBe(0);
  const text = [
    ['=', 'Ink costs'],
    ['-', 'ten'],
    ['+', 'twelve gold'],
    ['=', 'coins.'],
  ];
  const [event] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ type }) => type === 'change');
  expect(event).toMatchObject({
    outcome: 'changed',
    words_added: 2,
    words_removed: 1,
    text,
    text_cut: false,
  });
  expect(received).toEqual([event]);
});

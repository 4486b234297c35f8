// The raw bytes of a whole crawl, as a program's tap hears them.
import { expect, it } from 'vitest';
import type { Tap } from '../../src/fetch/tap.ts';
import { page, useBench } from './crawl-site.ts';

const bench = useBench();

it('a tap hears every exchange of a crawl: robots.txt, and redirects hop by hop', async () => {
  const web = await bench.web({
    pages: {
      '/': page('Home', '/old'),
      '/old': ({ response }) => {
        response.writeHead(302, { location: '/new' });
        response.end('moved');
      },
      '/new': page('New'),
    },
  });
  const file = bench.file();
  const heard: { path: string; line: string; status: string; bytes: number; isWhole?: boolean }[] = [];
  const tap: Tap = ({ url }) => {
    const one = { path: new URL(url).pathname, line: '', status: '', bytes: 0 };
    heard.push(one);
    const firstLine = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1').split('\r\n', 1)[0];
    return {
      request: (bytes) => void Object.assign(one, { line: firstLine(bytes) }),
      head: (bytes) => void Object.assign(one, { status: firstLine(bytes).slice(9, 12) }),
      body: (bytes) => void Object.assign(one, { bytes: one.bytes + bytes.length }),
      end: (isWhole) => void Object.assign(one, { isWhole }),
    };
  };
  await bench.crawl(file, web.url('/'), {}, { tap });
  expect(heard.map(({ path }) => path)).toEqual(web.log.map(({ path }) => path));
  expect(heard.slice(1).map(({ line, status, isWhole }) => [line, status, isWhole])).toEqual([
    ['GET / HTTP/1.1', '200', true],
    ['GET /old HTTP/1.1', '302', true],
    ['GET /new HTTP/1.1', '200', true],
  ]);
  expect(heard.every(({ bytes }) => bytes > 0)).toBe(true);
});

it('a tap that throws ends the run with its name, and the page is read when the run goes on', async () => {
  const web = await bench.web({ pages: { '/': page('Home', '/a'), '/a': page('A') } });
  const file = bench.file();
  const tap: Tap = ({ url }) => {
    if (url.endsWith('/a')) throw new Error('disk is full');
    return null;
  };
  const begun = await bench.begin(file, web.url('/'), {}, { tap });
  await expect(begun.finished).rejects.toMatchObject({
    code: 'extension-failed',
    message: expect.stringMatching(/tap.*\/a.*disk is full/),
  });
  const { summary } = await bench.crawl(file, web.url('/'));
  expect(summary.status).toBe('completed');
  expect(file.states()).toEqual({ '/': 'Processed', '/a': 'Processed' });
});

it('a tap whose sink rejects later ends the run with its name, too', async () => {
  const web = await bench.web({ pages: { '/': page('Home', '/a'), '/a': page('A') } });
  const file = bench.file();
  const full = async () => {
    throw new Error('disk is full');
  };
  const tap: Tap = ({ url }) =>
    url.endsWith('/a') ? null : { request() {}, head() {}, body: full, end() {} };
  const begun = await bench.begin(file, web.url('/'), {}, { tap });
  await expect(begun.finished).rejects.toMatchObject({
    code: 'extension-failed',
    message: expect.stringMatching(/tap.*disk is full/),
  });
  const { summary } = await bench.crawl(file, web.url('/'));
  expect(summary.status).toBe('completed');
});

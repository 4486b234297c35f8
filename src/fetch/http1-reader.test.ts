import { describe, expect, it } from 'vitest';
import type { ResponseHead } from './fetcher.ts';
import { createHttp1HeadReader } from './http1-head.ts';
import { Http1Reader } from './http1-reader.ts';

interface Read {
  heads: ResponseHead[];
  body: string;
  result: string;
  problem: string;
  extra: number;
  isReusable: boolean;
  idleSeconds: number | null;
}

const heads = createHttp1HeadReader();

/** Reads an answer that comes in the given pieces, in a buffer that is overwritten after each, and then ends. */
function readPieces(pieces: string[], method = 'GET'): Read {
  const reader = new Http1Reader(heads);
  const told: ResponseHead[] = [];
  let body = '';
  const sink = {
    isSettled: false,
    onHead: (head: ResponseHead) => void told.push(head),
    onData: (chunk: Buffer) => {
      body += chunk.toString('latin1');
    },
  };
  reader.begin(method);
  let result = 'more';
  const shared = Buffer.alloc(200_000);
  for (const piece of pieces) {
    if (result !== 'more') {
      // What comes behind the end is the connection's to see; here it counts as one piece with it.
      reader.extra += piece.length;
      continue;
    }
    shared.write(piece, 'latin1');
    result = reader.feed(shared, piece.length, sink);
    shared.fill('#', 0, piece.length);
  }
  if (result === 'more') result = `${reader.finish()} at the end`;
  const { isReusable, idleSeconds } = reader.framing;
  const { problem, extra } = reader;
  return { heads: told, body, result, problem, extra, isReusable, idleSeconds };
}

const readAll = (text: string, method?: string) => readPieces([text], method);

const ok = (fields: string, body = '') => `HTTP/1.1 200 OK\r\n${fields}\r\n${body}`;

describe('the status line', () => {
  it.each([
    ['HTTP/1.1 200 OK', 200],
    ['HTTP/1.0 404 Not Found', 404],
    ['HTTP/1.1 200', 200],
    ['HTTP/1.1 200 ', 200],
    ['HTTP/1.1  503 two spaces', 503],
    ['HTTP/1.1 999 Request Denied', 999],
    ['HTTP/1.1 200 \xff\x01', 200],
  ])('%j is read', (line, status) => {
    const { heads: told, result } = readAll(`${line}\r\ncontent-length: 0\r\n\r\n`);
    expect([told.length, told[0]?.status, result]).toEqual([1, status, 'done']);
  });

  it.each([
    'HTTP/2.0 200 OK',
    'HTTP/1.2 200 OK',
    'HTTP/1. 200 OK',
    'http/1.1 200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 099 No',
    'HTTP/1.1 abc',
    'HTTP/1.1',
    'HTTP/1.1200 OK',
    'ICY 200 OK',
    '<html>',
  ])('%j is malformed', (line) => {
    const { heads: told, result } = readAll(`${line}\r\ncontent-length: 0\r\n\r\n`);
    expect([told, result]).toEqual([[], 'malformed']);
  });

  it('may follow empty lines, but not for ever', () => {
    expect(readAll(`\r\n\n\r\n${ok('content-length: 1\r\n', 'x')}`)).toMatchObject({
      body: 'x',
      result: 'done',
    });
    expect(readPieces(Array(7).fill('\r\n'.repeat(5000))).result).toBe('malformed');
  });

  it('is known to be none before the line has ended', () => {
    expect(readPieces(['SSH-2.0-Open']).result).toBe('malformed');
    expect(readPieces(['H', 'T', 'X']).result).toBe('malformed');
    expect(readPieces(['H', 'TT']).result).toBe('cut at the end');
  });
});

describe('header fields', () => {
  it('are read in any case, trimmed, as latin1; others are left', () => {
    const { heads: told } = readAll(
      ok(
        'CONTENT-TYPE:text/html \r\nEtag: \t"\xe9" \t\r\nX-Other: no\r\nServer:\r\nlink:\r\ncontent-length: 0\r\n',
      ),
    );
    expect(told).toEqual([
      {
        status: 200,
        contentType: 'text/html',
        contentLength: 0,
        contentEncoding: null,
        location: null,
        etag: '"\xe9"',
        lastModified: null,
        cacheControl: null,
        retryAfter: null,
        date: null,
        expires: null,
        age: null,
        link: '',
        xRobotsTag: null,
        fields: null,
      },
    ]);
  });

  it('are all kept by a reader that is told so: each as it was sent, lines that are no field left out', () => {
    const keeping = new Http1Reader(createHttp1HeadReader(true));
    const told: unknown[] = [];
    keeping.begin('GET');
    const head =
      'HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a:\t2 \r\nX-Fold: a\r\n  b\r\nno field\r\nbad : x\r\n: y\r\nX-E:\r\n\r\n';
    const bytes = Buffer.from(head, 'latin1');
    keeping.feed(bytes, bytes.length, {
      isSettled: false,
      onHead: ({ fields }) => void told.push(fields),
      onData: () => true,
    });
    expect(told).toEqual([
      [
        ['x-a', '1'],
        ['x-a', '2'],
        ['x-fold', 'a b'],
        ['x-e', ''],
      ],
    ]);
  });

  it('are all put where they belong', () => {
    const { heads: told } = readAll(
      ok(
        'Content-Encoding: ce\r\nLast-Modified: lm\r\nCache-Control: cc\r\nRetry-After: ra\r\nDate: d\r\nExpires: e\r\nAge: a\r\n' +
          'Link: l\r\nX-Robots-Tag: xr\r\nLocation: lo\r\nContent-Length: 12\r\n',
      ),
      'HEAD',
    );
    expect(told[0]).toMatchObject({
      ...{ contentEncoding: 'ce', lastModified: 'lm', cacheControl: 'cc', retryAfter: 'ra', date: 'd' },
      ...{ expires: 'e', age: 'a', link: 'l', xRobotsTag: 'xr', location: 'lo', contentLength: 12 },
    });
  });

  it('that are repeated are joined; of Location the first counts', () => {
    const { heads: told } = readAll(
      ok('link: <a>\r\nlocation: /1\r\nLink: <b>\r\nLocation: /2\r\ncontent-length: 0\r\n'),
    );
    expect(told[0]).toMatchObject({ link: '<a>, <b>', location: '/1' });
  });

  it('may be folded, end in bare LF and hold a stray CR', () => {
    const { heads: told, body } = readAll(
      'HTTP/1.1 200 OK\n x: folded reason\nlink: <a>,\r\n \t<b>\n\t,<c>\netag:\r\n  "1"\ncache-control: a\rb\ncontent-length: 2\n\nok',
    );
    expect(told[0]).toMatchObject({
      link: '<a>, <b> ,<c>',
      etag: '"1"',
      cacheControl: 'a b',
      contentLength: 2,
    });
    expect(body).toBe('ok');
  });

  it('are none without a colon, or with a space before it', () => {
    const {
      heads: told,
      result,
      body,
    } = readAll(ok('content-length : 1\r\netag\r\n: x\r\ncontent\rtype: a\r\nlocation: /a\r\n', 'all of it'));
    expect(told[0]).toMatchObject({ contentLength: null, etag: null, contentType: null, location: '/a' });
    expect([body, result]).toEqual(['all of it', 'done at the end']);
  });

  it('with a zero byte are malformed', () => {
    expect(readAll(ok('etag: a\0b\r\n')).result).toBe('malformed');
  });

  it('are at most 64 KiB, in one piece or many', () => {
    const fits = ok(`x: ${'y'.repeat(65_000)}\r\ncontent-length: 1\r\n`, 'z');
    const tooLong = ok(`x: ${'y'.repeat(66_000)}\r\ncontent-length: 1\r\n`, 'z');
    expect(readAll(fits)).toMatchObject({ result: 'done', body: 'z' });
    expect(readPieces(fits.match(/[\s\S]{1,999}/g)!)).toMatchObject({ result: 'done', body: 'z' });
    expect(readPieces([fits.slice(0, 60_000), fits.slice(60_000) + 'w'.repeat(90_000)])).toMatchObject({
      body: 'z',
      extra: 90_000,
    });
    for (const pieces of [[tooLong], tooLong.match(/[\s\S]{1,999}/g)!, [tooLong.slice(0, 65_999)]]) {
      expect(readPieces(pieces)).toMatchObject({ result: 'malformed', problem: 'the head is too long' });
    }
  });
});

describe('informational answers', () => {
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n';

  it('are passed over, up to a limit', () => {
    const final = ok('content-length: 1\r\n', 'x');
    expect(readAll(`HTTP/1.1 100 Continue\r\n\r\n${hints.repeat(15)}${final}`)).toMatchObject({
      heads: [{ status: 200, link: null }],
      body: 'x',
      result: 'done',
    });
    expect(readAll(hints.repeat(17) + final).result).toBe('malformed');
  });

  it('that switch the protocol are malformed', () => {
    expect(readAll('HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n').result).toBe('malformed');
  });
});

describe('the end of a body', () => {
  it.each([
    ['HEAD', 'HTTP/1.1 200 OK'],
    ['GET', 'HTTP/1.1 204 None'],
    ['GET', 'HTTP/1.1 304 Not Modified'],
  ])('is the head of an answer to %s: %s', (method, line) => {
    for (const fields of ['content-length: 9\r\n', 'transfer-encoding: chunked\r\n', '']) {
      expect(readAll(`${line}\r\n${fields}\r\n`, method)).toMatchObject({
        result: 'done',
        body: '',
        extra: 0,
      });
    }
    expect(readAll(`${line}\r\n\r\nhello`, method)).toMatchObject({ result: 'done', body: '', extra: 5 });
  });

  it('is where its length says', () => {
    expect(readAll(ok('content-length: 5\r\n', 'hello!!'))).toMatchObject({ body: 'hello', extra: 2 });
    expect(readAll(ok('content-length: 0\r\n'))).toMatchObject({
      body: '',
      result: 'done',
      isReusable: true,
    });
    expect(readAll(ok('content-length: 5\r\n', 'hell')).result).toBe('cut at the end');
    expect(readAll(ok('content-length: 5\r\nconnection: close\r\n', 'hell')).result).toBe('short at the end');
  });

  it.each([
    ['5, 5', 'done', 5],
    ['5\r\nContent-Length: 5', 'done', 5],
    ['5\r\ncontent-length: 6', 'malformed', undefined],
    ['5, 6', 'malformed', undefined],
    ['5, abc', 'malformed', undefined],
    ['99999999999999999999', 'malformed', undefined],
    ['abc', 'done at the end', null],
    ['-1', 'done at the end', null],
    ['', 'done at the end', null],
    ['0x5', 'done at the end', null],
  ])('with the length %j is %s', (length, result, contentLength) => {
    const read = readAll(ok(`content-length: ${length}\r\n`, 'hello'));
    expect([read.result, read.heads[0]?.contentLength]).toEqual([result, contentLength]);
  });

  it('is the end of the connection where nothing else tells', () => {
    expect(readAll(ok('', 'hello'))).toMatchObject({
      body: 'hello',
      result: 'done at the end',
      isReusable: false,
    });
    expect(readAll(ok(''))).toMatchObject({ body: '', result: 'done at the end' });
    expect(readAll('HTTP/1.1 200 OK\r\netag: 1\r\n').result).toBe('cut at the end');
  });
});

describe('chunks', () => {
  const chunked = (body: string, coding = 'chunked') => readAll(ok(`transfer-encoding: ${coding}\r\n`, body));

  it.each([
    ['plain', '5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n'],
    ['with extensions', '5;a=b;c="d"\r\nhello\r\n6 ;x\r\n world\r\n0;last\r\n\r\n'],
    ['with trailers', '5\r\nhello\r\n6\r\n world\r\n0\r\netag: "t"\r\nx: y\r\n\r\n'],
    ['with bare LF', '5\nhello\n6\n world\n0\n\n'],
    ['with zeros before the size', '0005\r\nhello\r\n06\r\n world\r\n000\r\n\r\n'],
    ['with spaces after the size', '5  \r\nhello\r\n6\t\r\n world\r\n0 \r\n\r\n'],
  ])('%s are joined', (_name, body) => {
    expect(chunked(body)).toMatchObject({
      body: 'hello world',
      result: 'done',
      extra: 0,
      isReusable: true,
      heads: [{ etag: null }],
    });
    expect(chunked(`${body}more`)).toMatchObject({ body: 'hello world', extra: 4 });
  });

  it('have sizes in hexadecimal of either case', () => {
    const data = 'x'.repeat(0xab);
    expect(chunked(`aB\r\n${data}\r\n0\r\n\r\n`).body).toBe(data);
  });

  it.each([
    ['no size', '\r\nhello'],
    ['no number', 'xyz\r\nhello'],
    ['a prefix', '0x5\r\nhello'],
    ['a sign', '-5\r\nhello'],
    ['data longer than said', '3\r\nhello\r\n0\r\n\r\n'],
    ['a size past 2^53', '20000000000000\r\nhello'],
    ['a size of 400 digits', `${'f'.repeat(400)}\r\nhello`],
    ['a CR without LF after the size', '5\rhello'],
    ['a CR without LF after the data', '5\r\nhello\rx'],
    ['a CR without LF at the end', '0\r\n\rx'],
    ['an extension without end', `5;${'x'.repeat(20_000)}`],
    ['trailers without end', `0\r\n${'a\n'.repeat(70_000)}`],
  ])('are malformed with %s', (_name, body) => {
    expect(chunked(body).result).toBe('malformed');
  });

  it('may have any size up to 2^53', () => {
    expect(chunked('1fffffffffffff\r\nhello')).toMatchObject({ body: 'hello', result: 'cut at the end' });
  });

  it('that stop early are cut', () => {
    for (const body of ['', '5', '5\r\nhe', '5\r\nhello', '5\r\nhello\r\n', '0\r\n', '0\r\nx: y\r\n']) {
      expect(chunked(body).result, body).toBe('cut at the end');
    }
  });

  it('win over a length, and the connection is not used again', () => {
    const read = readAll(
      ok(
        'content-length: 3\r\ntransfer-encoding: Chunked\r\ncontent-length: 4\r\n',
        '5\r\nhello\r\n0\r\n\r\n',
      ),
    );
    expect(read).toMatchObject({
      body: 'hello',
      result: 'done',
      isReusable: false,
      heads: [{ contentLength: null }],
    });
  });

  it('are the only transfer coding that is understood', () => {
    const body = '5\r\nhello\r\n0\r\n\r\n';
    for (const coding of ['chunked, chunked', 'identity, chunked', 'CHUNKED', ' chunked ,']) {
      expect(chunked(body, coding), coding).toMatchObject({ body: 'hello', result: 'done' });
    }
    for (const coding of ['gzip, chunked', 'chunked, gzip', 'gzip', 'xchunked', 'chunked;q=1']) {
      expect(chunked(body, coding).result, coding).toBe('malformed');
    }
    expect(readAll(ok('transfer-encoding: identity\r\ncontent-length: 2\r\n', 'ok'))).toMatchObject({
      body: 'ok',
      result: 'done',
      isReusable: true,
    });
  });
});

describe('a connection', () => {
  it.each([
    ['HTTP/1.1', '', true],
    ['HTTP/1.1', 'connection: keep-alive\r\n', true],
    ['HTTP/1.1', 'connection: Close\r\n', false],
    ['HTTP/1.1', 'connection: keep-alive, close\r\n', false],
    ['HTTP/1.1', 'connection: foo\r\nConnection: close\r\n', false],
    ['HTTP/1.1', 'connection: foo\r\n', true],
    ['HTTP/1.0', '', false],
    ['HTTP/1.0', 'connection: Keep-Alive\r\n', true],
    ['HTTP/1.0', 'connection: keep-alive\r\ntransfer-encoding: chunked\r\n', false],
  ])('after %s with %j is used again: %s', (version, fields, isReusable) => {
    const read = readAll(`${version} 200 OK\r\n${fields}content-length: 0\r\n\r\n`, 'HEAD');
    expect([read.result, read.isReusable]).toEqual(['done', isReusable]);
  });

  it.each([
    ['timeout=5', 5],
    ['max=100, Timeout = 20', 20],
    ['timeout="7"', 7],
    ['max=5', null],
    ['mytimeout=5', null],
  ])('with Keep-Alive: %s stays idle for %s s', (value, seconds) => {
    expect(readAll(ok(`keep-alive: ${value}\r\ncontent-length: 0\r\n`)).idleSeconds).toBe(seconds);
  });
});

describe('an answer cut at any byte', () => {
  const answers = [
    ok('content-length: 5\r\netag: "1"\r\n', 'hello'),
    ok(
      'transfer-encoding: chunked\r\nlink: <a>,\r\n <b>\r\n',
      '5;x=y\r\nhello\r\nb\r\n, you there\r\n0\r\na: b\r\n\r\n',
    ),
    'HTTP/1.1 200\nlink: a\rb\nlocation: /x\n\nuntil the end',
    `\r\nHTTP/1.1 100 Go on\r\n\r\n\r\nHTTP/1.1 103 Hints\nlink: no\n\n${ok('content-length: 2\r\nlink:\r\n', 'okextra')}`,
    ok('etag: "1"\r\ncontent-length: 2\r\ncontent-length: 3\r\n', 'oh'),
    ok('transfer-encoding: chunked\r\n', '5\r\nhello\r\n5x\r\n'),
    'HTTP/1.1 304 Not Modified\r\nEtag: "2"\r\n\r\n',
  ];

  it('is read as in one piece', () => {
    for (const answer of answers) {
      const whole = readAll(answer);
      expect(readPieces([...answer]), answer).toMatchObject(withoutExtra(whole));
      for (let cut = 0; cut <= answer.length; cut += 1) {
        const pieces = [answer.slice(0, cut), answer.slice(cut)];
        expect(readPieces(pieces), `${cut} of ${answer}`).toMatchObject(withoutExtra(whole));
      }
    }
  });

  it('tells the bytes behind it', () => {
    const whole = readAll(answers[3]);
    expect([whole.body, whole.extra]).toEqual(['ok', 5]);
    expect(readPieces([...answers[3]]).extra).toBe(5);
  });

  /** Behind malformed bytes nobody counts what else comes. */
  const withoutExtra = ({ extra: _, ...read }: Read) => read;
});

describe('a sink that has enough', () => {
  it.each([
    ['the head', 0],
    ['the first data', 1],
  ])('after %s is told nothing more', (_name, most) => {
    for (const answer of [
      ok('content-length: 9\r\n', 'hello'),
      ok('transfer-encoding: chunked\r\n', '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'),
      ok('', 'hello'),
    ]) {
      const reader = new Http1Reader(heads);
      let told = 0;
      const sink = {
        isSettled: false,
        onHead() {
          sink.isSettled = most === 0;
        },
        onData() {
          told += 1;
          sink.isSettled = true;
        },
      };
      reader.begin('GET');
      expect(reader.feed(Buffer.from(answer), answer.length, sink)).toBe('stopped');
      expect(told).toBe(most);
    }
  });
});

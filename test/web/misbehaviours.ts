// What the web does to crawlers, by name. Each entry makes a handler for the fake web; its doc line is a promise that
// misbehaviours.test.ts holds it to. Where HTTP itself must be broken the handler writes to the raw socket. State is
// the request's own (`nth`, query, path): two fake webs never share any. Waits go through the exchange's clock.
import { Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import { answer, type Exchange, type FixedAnswer, type Handler } from './fake-web.ts';

const page = (title: string, body = ''): string =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1>${body}</body></html>`;

const link = (href: string, text = href): string => `<a href="${href}">${text}</a> `;

const always =
  (fixed: FixedAnswer): Handler =>
  (exchange) =>
    answer(exchange, fixed);

/** The first `times` requests get `fixed`, later ones a fine page. */
const atFirst =
  (times: number, fixed: (exchange: Exchange) => FixedAnswer): Handler =>
  (exchange) =>
    answer(exchange, exchange.nth <= times ? fixed(exchange) : { body: page('Fine at last') });

const redirect =
  (location: (exchange: Exchange) => string, status = 302): Handler =>
  (exchange) =>
    answer(exchange, { status, headers: { location: location(exchange) } });

/** Bytes past node:http, so that the head may lie. */
const raw =
  (...parts: (string | Uint8Array)[]): Handler =>
  ({ response }) => {
    const socket = response.socket!;
    for (const part of parts) socket.write(part);
    socket.end();
  };

const stream =
  (
    headers: Record<string, string>,
    chunks: () => Iterable<Uint8Array>,
    encode?: () => NodeJS.ReadWriteStream,
  ): Handler =>
  ({ request, response }) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    const source = Readable.from(chunks(), { objectMode: false });
    const encoder = encode?.();
    if (encoder === undefined) source.pipe(response);
    else source.pipe(encoder).pipe(response);
    response.once('close', () => source.destroy());
  };

function* repeated(chunk: Uint8Array, times: number): Iterable<Uint8Array> {
  for (let n = 0; n < times; n++) yield chunk;
}

const rateLimited = (times: number, headers: (exchange: Exchange) => Record<string, string>): Handler =>
  atFirst(times, (exchange) => ({ status: 429, headers: headers(exchange), body: page('Slow down') }));

const robots = (body: string, headers: Record<string, string> = {}): Handler =>
  always({ headers: { 'content-type': 'text/plain', ...headers }, body });

export const misbehaviours = {
  // --- time and transport

  /** The head comes only after `delayMs`. */
  slowHeaders:
    (delayMs: number): Handler =>
    (exchange) => {
      const cancel = exchange.clock.after(delayMs, () => answer(exchange, { body: page('Slow') }));
      exchange.response.once('close', cancel);
    },
  /** The head comes at once, then one byte of the body each `everyMs`. */
  dripBody:
    (everyMs: number, body = page('Drip')): Handler =>
    ({ response, clock }) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': `${body.length}` });
      response.flushHeaders();
      let cancel = () => {};
      const drip = (at: number) => {
        if (at === body.length) response.end();
        else {
          response.write(body[at]);
          cancel = clock.after(everyMs, () => drip(at + 1));
        }
      };
      cancel = clock.after(everyMs, () => drip(0));
      response.once('close', () => cancel());
    },
  /** Takes the request and never says a word. */
  neverAnswers: (): Handler => () => {},
  /** Resets the connection before any byte of the answer. */
  resetsBeforeHead:
    (): Handler =>
    ({ response }) =>
      void response.socket!.resetAndDestroy(),
  /** Sends a whole head and half of the promised body, then resets the connection. */
  resetsMidBody:
    (): Handler =>
    ({ response }) => {
      const body = page('Half', 'x'.repeat(2000));
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': `${body.length}` });
      // The reset waits for the write to be out, else the client may never see the head.
      response.write(body.slice(0, 1000), () => response.socket?.resetAndDestroy());
    },
  /** Content-Length is smaller than the body that follows. */
  contentLengthTooShort: (): Handler => {
    const body = page('Cut by its own length');
    return raw(
      `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length - 10}\r\n\r\n`,
      body,
    );
  },
  /** Content-Length is larger than the body; the connection closes after the body. */
  contentLengthTooLong: (): Handler => {
    const body = page('Shorter than promised');
    return raw(
      `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length + 100}\r\n\r\n`,
      body,
    );
  },
  /** A body that goes on until the client hangs up. */
  endlessBody: (): Handler =>
    stream({}, () => repeated(Buffer.from('<p>and another thing '.repeat(800)), Number.POSITIVE_INFINITY)),
  /** Fine answers, but every one closes its connection and says so. */
  closesEachTime: (): Handler => always({ headers: { connection: 'close' }, body: page('Closed') }),
  /** Fine answers that promise to keep the connection, which is then closed without a word. */
  closesSilently: (): Handler => (exchange) => {
    const { socket } = exchange.response;
    exchange.response.once('finish', () => socket!.end());
    answer(exchange, { body: page('Closed without a word') });
  },
  /** Informational answers (102, 103) come before the 200. */
  informational: (): Handler => (exchange) => {
    exchange.response.writeProcessing();
    exchange.response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
    answer(exchange, { body: page('After the hints') });
  },
  /** The server's clock is wrong by `skewMs`, to be seen in Date. */
  dateSkew:
    (skewMs: number): Handler =>
    (exchange) =>
      answer(exchange, {
        headers: { date: new Date(exchange.clock.now() + skewMs).toUTCString() },
        body: page('Another time'),
      }),

  // --- bodies

  /** A few hundred kilobytes of gzip that unpack to `decodedMb` megabytes. */
  gzipBomb: (decodedMb = 200): Handler =>
    stream(
      { 'content-encoding': 'gzip' },
      () => repeated(Buffer.alloc(1 << 20, 0x20), decodedMb),
      createGzip,
    ),
  /** Says gzip; the bytes break off in the middle of the stream and go on as rubbish. */
  brokenGzip: (): Handler => {
    const packed = gzipSync(page('Broken', link('/never')));
    const body = Buffer.concat([packed.subarray(0, packed.length >> 1), Buffer.alloc(40, 0xff)]);
    return always({ headers: { 'content-encoding': 'gzip' }, body });
  },
  /** Whole gzip, and behind it line ends that belong to nothing. */
  gzipWithTail: (): Handler =>
    always({
      headers: { 'content-encoding': 'gzip' },
      body: Buffer.concat([gzipSync(page('Whole')), Buffer.from('\r\n\r\n')]),
    }),
  /** HTML sent as image/png. */
  wrongContentType: (): Handler =>
    always({ headers: { 'content-type': 'image/png' }, body: page('HTML all the same') }),
  /** HTML without any Content-Type. */
  noContentType:
    (): Handler =>
    ({ response }) =>
      void response.writeHead(200).end(page('No type')),
  /** Binary bytes sent as text/html. */
  binaryAsHtml: (): Handler =>
    always({ body: Buffer.from(Array.from({ length: 4096 }, (_, n) => (n * 151 + 7) & 0xff)) }),
  /** An HTML page of `megabytes`. */
  hugePage: (megabytes = 20): Handler =>
    stream({}, function* () {
      yield Buffer.from('<!DOCTYPE html><title>Huge</title>');
      yield* repeated(Buffer.from('<p>much more of it'.padEnd(1024).repeat(64)), megabytes * 16);
    }),
  /** One page with `count` different links. */
  manyLinks: (count = 100_000): Handler =>
    stream({}, function* () {
      yield Buffer.from('<!DOCTYPE html><title>Many links</title>');
      for (let from = 0; from < count; from += 1000) {
        const some = Array.from({ length: Math.min(1000, count - from) }, (_, n) =>
          link(`/link-${from + n}`),
        );
        yield Buffer.from(some.join(''));
      }
    }),
  /** The same bytes on every path it is put on. */
  duplicateContent: (): Handler => always({ body: page('Seen before', 'The same words everywhere.') }),
  /** ISO-8859-1 bytes, named so in the header: the title is "Café à Noël". */
  latin1: (): Handler =>
    always({
      headers: { 'content-type': 'text/html; charset=iso-8859-1' },
      body: Buffer.from(page('Café à Noël'), 'latin1'),
    }),
  /** UTF-16LE with a byte order mark and no charset in the header: the title is "Ωμέγα". */
  utf16: (): Handler =>
    always({
      headers: { 'content-type': 'text/html' },
      body: Buffer.from(`\ufeff${page('Ωμέγα')}`, 'utf16le'),
    }),
  /** Shift_JIS, named in a meta element only: the title is "日本語". */
  shiftJis: (): Handler => {
    const [before, after] = ['<meta charset="shift_jis"><title>', '</title>'].map((text) =>
      Buffer.from(text),
    );
    const title = Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea]);
    return always({ headers: { 'content-type': 'text/html' }, body: Buffer.concat([before, title, after]) });
  },

  // --- redirects

  /** Two pages, `…/a` and `…/b`, that redirect to each other; put it on `/loop/*`. */
  redirectLoop: (): Handler =>
    redirect(({ path }) => path.replace(/[^/]*$/, (name) => (name === 'a' ? 'b' : 'a'))),
  /** `…/0` redirects to `…/1` and so on; `…/hops` is a fine page. Put it on `/chain/*`. */
  redirectChain:
    (hops: number, status = 302): Handler =>
    (exchange) => {
      const at = Number(/\d+$/.exec(exchange.path)?.[0] ?? 0);
      if (at >= hops) answer(exchange, { body: page(`End of ${hops} hops`) });
      else redirect(({ path }) => path.replace(/\d*$/, `${at + 1}`), status)(exchange);
    },
  /** Redirects to `path` on host number `host`. */
  redirectToHost: (host: number, path = '/'): Handler => redirect(({ url }) => url(path, host)),
  /** Redirects to something that is no URL. */
  brokenLocation: (): Handler => redirect(() => 'http://[not a host]:99999/'),
  /** Redirects without saying where to. */
  noLocation: (): Handler => always({ status: 302 }),
  /** Redirects to a path relative to the page, `target`. */
  relativeLocation: (target = '../elsewhere?x=1'): Handler => redirect(() => target, 301),
  /** A page whose meta element refreshes to `target` after 0 seconds. */
  metaRefresh: (target: string): Handler =>
    always({
      body: `<!DOCTYPE html><head><meta http-equiv="refresh" content="0; url=${target}"><title>Moved</title></head>`,
    }),

  // --- refusals and failures

  /** 429 for the first `times` requests, Retry-After in seconds. */
  rateLimitedForSeconds: (times: number, seconds: number): Handler =>
    rateLimited(times, () => ({ 'retry-after': `${seconds}` })),
  /** 429 for the first `times` requests, Retry-After as a date `seconds` from now. */
  rateLimitedUntilDate: (times: number, seconds: number): Handler =>
    rateLimited(times, ({ clock }) => ({
      'retry-after': new Date(clock.now() + seconds * 1000).toUTCString(),
    })),
  /** 429 for the first `times` requests, with a Retry-After of a year. */
  rateLimitedForAYear: (times: number): Handler => rateLimited(times, () => ({ 'retry-after': '31536000' })),
  /** 429 for the first `times` requests, without Retry-After. */
  rateLimitedSilently: (times: number): Handler => rateLimited(times, () => ({})),
  /** 503 for the first `times` requests, then a fine page. */
  unavailableAtFirst: (times: number): Handler => atFirst(times, () => ({ status: 503, body: page('Busy') })),
  /** 500, always. */
  serverError: (): Handler => always({ status: 500, body: page('Broken') }),
  /** 404, always. */
  notFound: (): Handler => always({ status: 404, body: page('Not found') }),
  /** 410, always. */
  gone: (): Handler => always({ status: 410, body: page('Gone') }),
  /** A page that says it does not exist, with status 200. */
  softNotFound: (): Handler => always({ body: page('Page not found', 'Sorry, there is nothing here.') }),

  // --- robots.txt (give one as the option `robots`)

  /** robots.txt answers 503 for the first `times` requests (always), then allows all. */
  robotsUnavailable: (times = Number.POSITIVE_INFINITY): Handler =>
    atFirst(times, () => ({ status: 503, body: 'busy' })),
  /** robots.txt never answers. */
  robotsNeverAnswers: (): Handler => () => {},
  /** robots.txt is missing. */
  robotsMissing: (): Handler => always({ status: 404, body: page('Not found') }),
  /** robots.txt is an HTML page, status 200; a line in it looks like a rule that forbids all. */
  robotsIsHtml: (): Handler => always({ body: page('Welcome', '<p>User-agent: *<p>Disallow: /') }),
  /** robots.txt redirects to itself with `?hop=n`, `hops` times, then forbids /private/. */
  robotsRedirects:
    (hops: number): Handler =>
    (exchange) => {
      const hop = Number(exchange.query.get('hop') ?? 0);
      if (hop >= hops) robots('User-agent: *\nDisallow: /private/\n')(exchange);
      else redirect(() => `/robots.txt?hop=${hop + 1}`, 301)(exchange);
    },
  /** robots.txt of `kilobytes`: the first rule forbids /first/, the last, past the limit of 500 KiB, /last/. */
  robotsHuge: (kilobytes = 600): Handler =>
    robots(
      `User-agent: *\nDisallow: /first/\n${`#${'x'.repeat(1022)}\n`.repeat(kilobytes)}Disallow: /last/\n`,
    ),
  /** robots.txt asks for `seconds` between requests. */
  robotsCrawlDelay: (seconds: number): Handler => robots(`User-agent: *\nCrawl-delay: ${seconds}\n`),
  /** robots.txt allows `requests` in `seconds`. */
  robotsRequestRate: (requests: number, seconds: number): Handler =>
    robots(`User-agent: *\nRequest-rate: ${requests}/${seconds}\n`),

  // --- links that lead astray

  /** A calendar without end: every day links to the next and to the day a year on. Put it on `/calendar/*`. */
  spiderTrap: (): Handler => (exchange) => {
    const at = Date.parse(/\d{4,6}-\d\d-\d\d$/.exec(exchange.path)?.[0] ?? '') || Date.UTC(2024, 0, 1);
    const day = (days: number) => `/calendar/${new Date(at + days * 86_400_000).toISOString().slice(0, 10)}`;
    answer(exchange, { body: page(`Calendar ${day(0)}`, link(day(1)) + link(day(365))) });
  },
  /** The same two links with a session id that is new in every answer. */
  sessionIds: (): Handler => (exchange) => {
    const session = `sid=${exchange.host}x${exchange.nth}x${exchange.query.get('sid') ?? 0}`;
    answer(exchange, { body: page('Shop', link(`/shop/a?${session}`) + link(`/shop/b?${session}`)) });
  },
  /** A page with meta robots nofollow and one link, to `target`. */
  metaNofollow: (target: string): Handler =>
    always({ body: `<meta name="robots" content="nofollow"><title>No follow</title>${link(target)}` }),
  /** A page with meta robots noindex and one link, to `target`. */
  metaNoindex: (target: string): Handler =>
    always({ body: `<meta name="robots" content="noindex"><title>No index</title>${link(target)}` }),
  /** A page whose only link, to `target`, has rel=nofollow. */
  relNofollow: (target: string): Handler =>
    always({ body: page('Rel', `<a rel="nofollow" href="${target}">do not</a>`) }),
  /** X-Robots-Tag with `value`, on a page with one link, to `target`. */
  robotsTagHeader: (value: string | string[], target: string): Handler =>
    always({ headers: { 'x-robots-tag': value }, body: page('Tagged', link(target)) }),
  /** A page that names `target` as its canonical address. */
  canonicalElsewhere: (target: string): Handler =>
    always({ body: `<link rel="canonical" href="${target}"><title>A copy</title>` }),
  /** A page with `<base href=base>` and one link, to `target`. */
  baseHref: (base: string, target: string): Handler =>
    always({ body: `<base href="${base}"><title>Based</title>${link(target)}` }),
  /** Links to this server by the name bücher.example, in Unicode and in Punycode. */
  idnHost:
    (path = '/'): Handler =>
    (exchange) => {
      const names = ['b\u00fccher.example', 'xn--bcher-kva.example'];
      const links = names.map((name) => link(`http://${name}:${exchange.port}${path}`)).join('');
      answer(exchange, { body: page('Books', links) });
    },

  // --- validators

  /** A page with ETag and Last-Modified, and a proper 304 when either still holds. */
  conditional: (): Handler => (exchange) => {
    const validators = { etag: '"steady"', 'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT' };
    const asked = exchange.request.headers;
    const isSame =
      asked['if-none-match'] === undefined
        ? asked['if-modified-since'] === validators['last-modified']
        : asked['if-none-match'] === validators.etag;
    if (isSame) exchange.response.writeHead(304, validators).end();
    else answer(exchange, { headers: validators, body: page('Steady') });
  },
  /** Answers 304 to every conditional request though the page is another one each time. */
  lying304: (): Handler => (exchange) => {
    const asked = exchange.request.headers;
    const isConditional = asked['if-none-match'] !== undefined || asked['if-modified-since'] !== undefined;
    if (isConditional) exchange.response.writeHead(304, { etag: '"always"' }).end();
    else answer(exchange, { headers: { etag: '"always"' }, body: page(`Edition ${exchange.nth}`) });
  },
};

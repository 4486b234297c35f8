import { describe, expect, it } from 'vitest';
import { readResponseHead } from './response-head.ts';

const raw = (...values: string[]) => values.map((value) => Buffer.from(value, 'latin1'));

describe('readResponseHead', () => {
  it('reads each field it knows in any case and leaves the others', () => {
    const head = readResponseHead(
      200,
      raw(
        ...[
          'CONTENT-TYPE',
          'text/html',
          'Content-Length',
          '12',
          'content-encoding',
          'gzip',
          'Location',
          '/a',
        ],
        ...[
          'ETag',
          '"x"',
          'Last-Modified',
          'lm',
          'Cache-Control',
          'no-store',
          'Retry-After',
          '5',
          'Date',
          'd',
        ],
        ...[
          'Expires',
          '0',
          'AGE',
          '7',
          'Link',
          '<a>',
          'X-Robots-Tag',
          'noindex',
          'Server',
          'nginx',
          'dote',
          'no',
        ],
      ),
    );
    expect(head).toEqual({
      status: 200,
      contentType: 'text/html',
      contentLength: 12,
      contentEncoding: 'gzip',
      location: '/a',
      etag: '"x"',
      lastModified: 'lm',
      cacheControl: 'no-store',
      retryAfter: '5',
      date: 'd',
      expires: '0',
      age: '7',
      link: '<a>',
      xRobotsTag: 'noindex',
      fields: null,
    });
  });

  it('joins repeated fields and takes the first location', () => {
    const head = readResponseHead(301, raw('link', '<a>', 'Link', '<b>', 'location', '/1', 'location', '/2'));
    expect(head.link).toBe('<a>, <b>');
    expect(head.location).toBe('/1');
  });

  it('reads values as latin1, and URLs as header-url.ts says', () => {
    expect(readResponseHead(301, raw('etag', '"\xe9"')).etag).toBe('"\xe9"');
    expect(readResponseHead(301, raw('location', '/caf\xe9')).location).toBe('/caf%E9');
  });

  it('takes no content length that is not a number', () => {
    expect(readResponseHead(200, raw('content-length', '-1')).contentLength).toBeNull();
    expect(readResponseHead(200, raw('content-length', '1, 1')).contentLength).toBeNull();
  });
});

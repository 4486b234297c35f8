import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSigner, type UnsignedRequest } from './sign-request.ts';

const sign = createSigner('us-east-1');
const NOBODY = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };
const CREDENTIALS = { ...NOBODY, sessionToken: null, expiresAt: null };
const NOON = Date.UTC(2013, 4, 24);
const ASKED: UnsignedRequest = {
  method: 'GET',
  host: 'examplebucket.s3.amazonaws.com',
  path: '/',
  query: [],
  headers: {},
  bodyHash: createHash('sha256').digest(),
};

describe('a signature', () => {
  // The keys, requests and signatures that AWS publishes as examples of Signature Version 4 for S3.
  it.each([
    [[['lifecycle', '']], 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
    [
      [
        ['prefix', 'J'],
        ['max-keys', '2'],
      ],
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ] as [[string, string][], string][])('of the query %j is the published one', (query, signature) => {
    const { headers, path } = sign({ ...ASKED, query }, CREDENTIALS, NOON);
    expect(headers.authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=${NOBODY.accessKey}/20130524/us-east-1/s3/aws4_request, ` +
        `SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
    );
    expect(headers['x-amz-date']).toBe('20130524T000000Z');
    expect(path.startsWith('/?')).toBe(true);
  });

  it('covers the session token, the type and every x-amz header, and leaves the others alone', () => {
    const headers = { 'content-type': 'text/html', 'x-amz-checksum-sha256': 'abc', 'if-none-match': '*' };
    const signed = sign({ ...ASKED, headers }, { ...CREDENTIALS, sessionToken: 'of an hour' }, NOON);
    expect(signed.headers).toMatchObject({ ...headers, 'x-amz-security-token': 'of an hour' });
    expect(/SignedHeaders=([^,]*)/.exec(signed.headers.authorization)?.[1]).toBe(
      'content-type;host;x-amz-checksum-sha256;x-amz-content-sha256;x-amz-date;x-amz-security-token',
    );
  });

  it('is another one with another secret, day, body or region', () => {
    const tomorrow = NOON + 86_400_000;
    const other = { ...ASKED, bodyHash: createHash('sha256').update('x').digest() };
    const signatures = [
      sign(ASKED, CREDENTIALS, NOON),
      sign(ASKED, { ...CREDENTIALS, secretKey: 'other' }, NOON),
      sign(ASKED, CREDENTIALS, tomorrow),
      sign(other, CREDENTIALS, NOON),
      createSigner('eu-west-1')(ASKED, CREDENTIALS, NOON),
    ].map(({ headers }) => headers.authorization.split('Signature=')[1]);
    expect(new Set(signatures).size).toBe(5);
    expect(sign(ASKED, CREDENTIALS, NOON).headers.authorization).toContain(signatures[0]);
  });
});

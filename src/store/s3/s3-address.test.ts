import { describe, expect, it } from 'vitest';
import { formatError } from '../../errors.ts';
import { encodeKey, readS3Address } from './s3-address.ts';

describe('an address', () => {
  it.each([
    ['s3://crawl', {}, 'https://crawl.s3.us-east-1.amazonaws.com', '/', ''],
    ['s3://crawl/a/b/', { AWS_REGION: 'eu-west-1' }, 'https://crawl.s3.eu-west-1.amazonaws.com', '/', 'a/b/'],
    [
      's3://crawl',
      { AWS_DEFAULT_REGION: 'cn-north-1' },
      'https://crawl.s3.cn-north-1.amazonaws.com.cn',
      '/',
      '',
    ],
    ['s3://my.crawl/x', {}, 'https://s3.us-east-1.amazonaws.com', '/my.crawl/', 'x/'],
    ['s3://crawl?addressing=path', {}, 'https://s3.us-east-1.amazonaws.com', '/crawl/', ''],
    ['s3://crawl/x', { AWS_ENDPOINT_URL: 'http://minio:9000' }, 'http://minio:9000', '/crawl/', 'x/'],
    ['s3://crawl/x', { AWS_ENDPOINT_URL: 'http://minio:9000/s3/' }, 'http://minio:9000', '/s3/crawl/', 'x/'],
    [
      's3://crawl/x?addressing=virtual',
      { AWS_ENDPOINT_URL: 'http://a', AWS_ENDPOINT_URL_S3: 'https://minio:9000' },
      'https://crawl.minio:9000',
      '/',
      'x/',
    ],
  ])('%s with %j leads to the right place', (address, env, origin, root, prefix) => {
    const place = readS3Address(address, env);
    expect(place).toMatchObject({ origin, root, prefix, host: new URL(origin).host });
  });

  it('that is none is refused, and a password in it not repeated', () => {
    for (const address of [
      's3://',
      's3:///x',
      's3://b',
      's3://key:hidden@crawl/x',
      's3://crawl?addressing=odd',
    ])
      expect(() => readS3Address(address, {}), address).toThrow(
        expect.objectContaining({ code: 'bad-value', message: expect.not.stringContaining('hidden') }),
      );
  });

  it('is shown without what an endpoint says of a password', () => {
    const place = readS3Address('s3://crawl/x', { AWS_ENDPOINT_URL: 'http://me:hidden@minio:9000/' });
    expect([place.endpoint, place.shown]).toEqual(['http://minio:9000', 's3://crawl/x']);
    for (const endpoint of ['minio:9000', 'ftp://me:hidden@minio', 'hidden']) {
      const read = () => readS3Address('s3://crawl', { AWS_ENDPOINT_URL: endpoint });
      try {
        read();
        expect.unreachable(endpoint);
      } catch (error) {
        expect(error).toMatchObject({ code: 's3-endpoint-invalid', exitCode: 4 });
        expect(formatError(error)).not.toContain('hidden');
      }
    }
  });

  it('encodes a key as signatures want it', () => {
    expect(encodeKey("a b/ü+=!'()*~._-")).toBe('a%20b/%C3%BC%2B%3D%21%27%28%29%2A~._-');
  });
});

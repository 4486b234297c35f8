/**
 * Where bodies go: `s3://bucket/prefix`, and beside it what AWS's own tools read from the environment (endpoint,
 * region). Promises: an endpoint of one's own is addressed by path, AWS by host name, unless `?addressing=` in the
 * address says otherwise; what is shown of an address never holds a password. Asks nobody anything.
 */
import { sumiError } from '../../errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface S3Place {
  bucket: string;
  /** Empty, or ends with a slash. */
  prefix: string;
  region: string;
  /** Scheme, host and port that are connected to. */
  origin: string;
  /** What the Host header says. */
  host: string;
  /** Encoded, before the object's key: `/`, or `/bucket/` where the bucket stands in the path. */
  root: string;
  /** For people: the address and the endpoint. */
  shown: string;
  endpoint: string;
}

const ADDRESS = /^s3:\/\/([a-z\d][\w.-]{1,62})(?:\/([^\s?#]*))?(?:\?addressing=(path|virtual))?$/i;

export function readS3Address(address: string, env: Environment): S3Place {
  const parts = ADDRESS.exec(address);
  if (parts === null) {
    // What stands before an @ may be a password.
    const value = address.replace(/\/\/.*@/s, '//…@');
    throw sumiError('bad-value', {
      option: 'bodies',
      value,
      place: 'address',
      expected: 's3://BUCKET/PREFIX',
    });
  }
  const [, bucket, path = '', addressing] = parts;
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1';
  const given = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL;
  const endpoint = given ? readEndpoint(given) : new URL(awsEndpoint(region));
  // A certificate for *.s3.… does not cover a bucket with a dot in its name.
  const fitsInHost = !(bucket.includes('.') && endpoint.protocol === 'https:');
  const isByPath = addressing === undefined ? Boolean(given) || !fitsInHost : addressing === 'path';
  const below = endpoint.pathname.replace(/\/*$/, '/');
  const host = isByPath ? endpoint.host : `${bucket}.${endpoint.host}`;
  const prefix = path.split('/').filter(Boolean).join('/');
  return {
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region,
    origin: `${endpoint.protocol}//${host}`,
    host,
    root: isByPath ? `${below}${bucket}/` : below,
    shown: prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`,
    endpoint: `${endpoint.protocol}//${endpoint.host}${endpoint.pathname.replace(/\/+$/, '')}`,
  };
}

function readEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '') return url;
  // Somebody may have put a password in it: the value is not repeated.
  throw sumiError('s3-endpoint-invalid');
}

function awsEndpoint(region: string): string {
  return `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`;
}

/** RFC 3986: all but unreserved characters as %XX, the slashes of a key left as they are. */
export function encodeKey(key: string): string {
  return key.split('/').map(encodeStrictly).join('/');
}

export function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

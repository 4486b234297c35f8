/**
 * AWS Signature Version 4 for one request with a whole body. Promises: what is signed is what is sent (method, path,
 * query, host, content type, every x-amz header, the body's hash). Knows nothing of retries or connections.
 */
import { createHash, createHmac } from 'node:crypto';
import { encodeStrictly } from './s3-address.ts';

export interface Credentials {
  accessKey: string;
  secretKey: string;
  sessionToken: string | null;
  /** Wall milliseconds; null when they do not end. */
  expiresAt: number | null;
}

export interface UnsignedRequest {
  method: string;
  host: string;
  /** Encoded. */
  path: string;
  query: readonly (readonly [name: string, value: string])[];
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  bodyHash: Buffer;
}

export interface SignedRequest {
  /** With its query. */
  path: string;
  headers: Record<string, string>;
}

export type Signer = (request: UnsignedRequest, credentials: Credentials, now: number) => SignedRequest;

const ALGORITHM = 'AWS4-HMAC-SHA256';

export function createSigner(region: string): Signer {
  // The key is the same all day: four hashes less a request.
  let made: { day: string; secret: string; key: Buffer } | null = null;

  function keyOf(day: string, secret: string): Buffer {
    if (made === null || made.day !== day || made.secret !== secret) {
      const steps = [day, region, 's3', 'aws4_request'];
      const key = steps.reduce<Buffer>((before, step) => hmac(before, step), Buffer.from(`AWS4${secret}`));
      made = { day, secret, key };
    }
    return made.key;
  }

  return (request, credentials, now) => {
    const time = new Date(now).toISOString().replace(/[-:]|\.\d{3}/g, '');
    const day = time.slice(0, 8);
    const bodyHash = request.bodyHash.toString('hex');
    const headers: Record<string, string> = {
      ...request.headers,
      host: request.host,
      'x-amz-content-sha256': bodyHash,
      'x-amz-date': time,
    };
    if (credentials.sessionToken !== null) headers['x-amz-security-token'] = credentials.sessionToken;
    const names = Object.keys(headers).filter(isSigned).sort();
    const query = canonicalQuery(request.query);
    const canonical = [
      request.method,
      request.path,
      query,
      ...names.map((name) => `${name}:${headers[name].trim().replace(/ +/g, ' ')}`),
      '',
      names.join(';'),
      bodyHash,
    ].join('\n');
    const scope = `${day}/${region}/s3/aws4_request`;
    const toSign = [ALGORITHM, time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
    const signature = hmac(keyOf(day, credentials.secretKey), toSign).toString('hex');
    headers.authorization = `${ALGORITHM} Credential=${credentials.accessKey}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
    return { path: query === '' ? request.path : `${request.path}?${query}`, headers };
  };
}

/** The others may be changed on the way by a proxy that means well. */
function isSigned(name: string): boolean {
  return name === 'host' || name === 'content-type' || name.startsWith('x-amz-');
}

function canonicalQuery(query: UnsignedRequest['query']): string {
  return query
    .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`)
    .sort()
    .join('&');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

// What tests do with a bucket from outside: make it, and look into it without the adapter under test. Requests are
// signed by the adapter's own signer, which the server checks; everything else is plain HTTP.
import { createHash, randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { encodeKey } from '../../src/store/s3/s3-address.ts';
import { createSigner } from '../../src/store/s3/sign-request.ts';
import type { S3Access } from './start-s3.ts';

export interface Bucket {
  name: string;
  /** Keys of all objects, and their sizes. */
  list(): Promise<Map<string, number>>;
  /** The stored object as a browser would show it. */
  read(key: string): Promise<{ bytes: Buffer; headers: Headers } | null>;
  /** Uploads in parts that were begun and neither finished nor dropped. */
  unfinished(): Promise<number>;
}

type Query = [name: string, value: string][];

export async function makeBucket(server: S3Access): Promise<Bucket> {
  const name = `sumi-${randomBytes(6).toString('hex')}`;
  const made = await ask(server, 'PUT', `/${name}`);
  if (made.status !== 200) throw new Error(`the bucket could not be made: ${await made.text()}`);
  await made.arrayBuffer();
  return {
    name,
    async list() {
      const found = new Map<string, number>();
      for (let token = ''; ; ) {
        const query: Query = [['list-type', '2']];
        if (token !== '') query.push(['continuation-token', token]);
        const page = await (await ask(server, 'GET', `/${name}`, query)).text();
        for (const [, key, size] of page.matchAll(/<Key>([^<]*)<\/Key>.*?<Size>(\d+)<\/Size>/gs))
          found.set(key.replaceAll('&apos;', "'"), Number(size));
        token = /<NextContinuationToken>([^<]*)</.exec(page)?.[1] ?? '';
        if (token === '') return found;
      }
    },
    async read(key) {
      const response = await ask(server, 'GET', `/${name}/${encodeKey(key)}`);
      const bytes = Buffer.from(await response.arrayBuffer());
      return response.status === 200 ? { bytes, headers: response.headers } : null;
    },
    async unfinished() {
      const page = await (await ask(server, 'GET', `/${name}`, [['uploads', '']])).text();
      return page.split('<Upload>').length - 1;
    },
  };
}

/** Every object of a bucket of bodies, decoded: key of the body → its bytes. Fails where a name is not its content's. */
export async function readBodies(bucket: Bucket, prefix: string): Promise<Map<string, Buffer>> {
  const bodies = new Map<string, Buffer>();
  for (const name of (await bucket.list()).keys()) {
    const key = new RegExp(`^${prefix}([0-9a-f]{2})/(\\1[0-9a-f]{62})\\.gz$`).exec(name)?.[2];
    if (key === undefined) throw new Error(`${name} is no name of a body`);
    const found = (await bucket.read(name))!;
    // Who fetches honours Content-Encoding and has decoded it.
    const bytes = found.bytes[0] === 0x1f && found.bytes[1] === 0x8b ? gunzipSync(found.bytes) : found.bytes;
    const hash = createHash('sha256').update(bytes).digest('hex');
    if (hash !== key) throw new Error(`${name} holds the bytes of ${hash}`);
    bodies.set(key, bytes);
  }
  return bodies;
}

async function ask(server: S3Access, method: string, path: string, query: Query = []): Promise<Response> {
  const { accessKey, secretKey, endpoint } = server;
  const signed = createSigner('us-east-1')(
    {
      method,
      host: new URL(endpoint).host,
      path,
      query,
      headers: {},
      bodyHash: createHash('sha256').digest(),
    },
    { accessKey, secretKey, sessionToken: null, expiresAt: null },
    Date.now(),
  );
  const { host: _, ...headers } = signed.headers;
  return fetch(endpoint + signed.path, { method, headers });
}

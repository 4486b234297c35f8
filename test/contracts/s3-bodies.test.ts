/** The body contract on a real S3 server, and what only a server can get wrong. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { formatError, SumiError } from '../../src/errors.ts';
import { systemClock } from '../../src/primitives/clock.ts';
import type { BodyStore } from '../../src/store/bodies.ts';
import { openBodies } from '../../src/store/open-store.ts';
import { openS3Bodies, type S3BodiesOptions } from '../../src/store/s3/s3-bodies.ts';
import { fastClock } from '../crawls/crawl-site.ts';
import { type FaultProxy, s3Error, startFaultProxy } from '../servers/fault-proxy.ts';
import { type Bucket, makeBucket, readBodies } from '../servers/s3-bucket.ts';
import { sharedS3 } from '../servers/shared-s3.ts';
import { administer, S3_DOMAIN, type S3Access } from '../servers/start-s3.ts';
import { type BodyHarness, describeBodies } from './body-store-contract.ts';

/** With signs that a signature must get right. */
const PREFIX = "crawl+1/rohe=ü!'(*)";
const MB = 1024 * 1024;

function environment({ endpoint, accessKey, secretKey }: Omit<S3Access, 'configFile'>) {
  return { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey };
}

async function startBucket(): Promise<BodyHarness> {
  const server = await sharedS3();
  const bucket = await makeBucket(server);
  return {
    open: () => openS3Bodies({ address: `s3://${bucket.name}/prefix`, env: environment(server) }),
    count: async () => (await bucket.list()).size,
    size: async () => [...(await bucket.list()).values()].reduce((sum, size) => sum + size, 0),
    cleanUp: async () => {},
  };
}

describeBodies('a bucket', startBucket);

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();
const opened: BodyStore[] = [];
const proxies: FaultProxy[] = [];
afterEach(async () => {
  for (const bodies of opened.splice(0)) await bodies.close();
  for (const proxy of proxies.splice(0)) await proxy.close();
});

async function open(options: S3BodiesOptions): Promise<BodyStore> {
  const bodies = await openS3Bodies(options);
  opened.push(bodies);
  return bodies;
}

async function proxied(): Promise<{
  server: S3Access;
  bucket: Bucket;
  proxy: FaultProxy;
  options: S3BodiesOptions;
}> {
  const server = await sharedS3();
  const bucket = await makeBucket(server);
  const proxy = await startFaultProxy(server.endpoint);
  proxies.push(proxy);
  const env = environment({ ...server, endpoint: proxy.endpoint });
  return { server, bucket, proxy, options: { address: `s3://${bucket.name}`, env, clock: fastClock(50) } };
}

/** The error, which must be one for operators with exit code 4, and must not give secrets away. */
async function refusalOf(opening: Promise<unknown>, ...secrets: string[]): Promise<SumiError> {
  const error = await opening.then(
    () => null,
    (thrown) => thrown as unknown,
  );
  expect(error).toBeInstanceOf(SumiError);
  expect((error as SumiError).exitCode).toBe(4);
  for (const secret of secrets) expect(formatError(error)).not.toContain(secret);
  return error as SumiError;
}

describe('an object', () => {
  it('lies under its prefix with type and encoding, so that a browser shows the page', async () => {
    const server = await sharedS3();
    const bucket = await makeBucket(server);
    const bodies = await open({ address: `s3://${bucket.name}/${PREFIX}/`, env: environment(server) });
    const page = Buffer.from('<h1>Grüße</h1>');
    const key = await bodies.put(sha256(page), page, 'text/html;  charset=utf-8');
    const name = `${PREFIX}/${key.slice(0, 2)}/${key}.gz`;
    expect([...(await bucket.list()).keys()]).toEqual([name]);
    const { bytes, headers } = (await bucket.read(name))!;
    expect(bytes.equals(page)).toBe(true);
    expect([headers.get('content-type'), headers.get('content-encoding')]).toEqual([
      'text/html; charset=utf-8',
      'gzip',
    ]);
  });

  it('of a site with a broken type is kept all the same', async () => {
    const server = await sharedS3();
    const bucket = await makeBucket(server);
    const bodies = await open({ address: `s3://${bucket.name}`, env: environment(server) });
    for (const type of [null, '', 'a\r\nx-amz-acl: public-read', 'ünsinn', 'x'.repeat(5000)]) {
      const bytes = randomBytes(20);
      const key = await bodies.put(sha256(bytes), bytes, type);
      expect(Buffer.compare((await bodies.get(key))!, bytes)).toBe(0);
    }
    expect((await bucket.list()).size).toBe(5);
  });

  it('is sent once by a process, and not changed by another that has the same', async () => {
    const { bucket, proxy, options } = await proxied();
    const [one, other] = [await open(options), await open(options)];
    const page = Buffer.from('the same page');
    const before = proxy.seen.length;
    const keys = await Promise.all([1, 2, 3].map(async () => one.put(sha256(page), page, 'text/html')));
    expect(one.put(sha256(page), page, 'text/html')).toBe(keys[0]);
    expect(proxy.seen.length - before).toBe(1);
    const [name] = (await bucket.list()).keys();
    expect(await other.put(sha256(page), page, 'text/plain')).toBe(keys[0]);
    expect((await bucket.read(name))!.headers.get('content-type')).toBe('text/html');
  });

  it('overwrites its equal where the server knows no conditions', async () => {
    const { bucket, proxy, options } = await proxied();
    proxy.answerWith(({ headers }) => (headers['if-none-match'] ? s3Error(501, 'NotImplemented') : null));
    const [one, other] = [await open(options), await open(options)];
    const page = Buffer.from('the same page');
    for (const bodies of [one, other]) await bodies.put(sha256(page), page, 'text/html');
    expect((await readBodies(bucket, '')).size).toBe(1);
  });

  it('too large for one request is sent in parts, and dropped whole when one of them is refused', async () => {
    const { bucket, proxy, options } = await proxied();
    const bodies = await open({ ...options, partBytes: 5 * MB });
    const [kept, refused] = [randomBytes(12 * MB), randomBytes(11 * MB)];
    const key = await bodies.put(sha256(kept), kept, 'application/pdf');
    expect(proxy.seen.filter((line) => line.includes('partNumber='))).toHaveLength(3);
    expect(sha256((await bodies.get(key))!).toString('hex')).toBe(key);
    proxy.answerWith(({ url }) => (url!.includes('partNumber=2') ? s3Error(400, 'InvalidPart') : null));
    const error = await refusalOf(Promise.resolve(bodies.put(sha256(refused), refused, null)));
    expect(error).toMatchObject({ code: 's3-failed', message: expect.stringContaining('InvalidPart') });
    expect((await bucket.list()).size).toBe(1);
    expect(await bucket.unfinished()).toBe(0);
    const [name] = (await bucket.list()).keys();
    const { headers } = (await bucket.read(name))!;
    expect([headers.get('content-type'), headers.get('content-encoding')]).toEqual([
      'application/pdf',
      'gzip',
    ]);
  });

  it('in parts that is there already is not sent again', async () => {
    const { proxy, options } = await proxied();
    const bytes = randomBytes(6 * MB);
    const one = await open({ ...options, partBytes: 5 * MB });
    await one.put(sha256(bytes), bytes, null);
    const before = proxy.seen.length;
    const other = await open({ ...options, partBytes: 5 * MB });
    await other.put(sha256(bytes), bytes, null);
    expect(proxy.seen.slice(before).filter((line) => line.startsWith('PUT'))).toEqual([]);
  });

  it('whose last answer was lost is found to be there', async () => {
    const { bucket, proxy, options } = await proxied();
    const bytes = randomBytes(6 * MB);
    const bodies = await open({ ...options, partBytes: 5 * MB });
    let isLost = false;
    proxy.answerWith(({ method, url }) => {
      if (method !== 'POST' || !url!.includes('uploadId=') || isLost) return null;
      isLost = true;
      return 'lost';
    });
    const key = await bodies.put(sha256(bytes), bytes, null);
    expect(isLost).toBe(true);
    expect([...(await readBodies(bucket, '')).keys()]).toEqual([key]);
  });
});

describe('a bucket', () => {
  it('is addressed by its name where the server has a domain', async () => {
    const server = await sharedS3();
    const bucket = await makeBucket(server);
    const { port } = new URL(server.endpoint);
    const names: string[] = [];
    const lookup: LookupFunction = (name, options, done) => {
      names.push(name);
      if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
      else done(null, '127.0.0.1', 4);
    };
    const env = environment({ ...server, endpoint: `http://${S3_DOMAIN}:${port}` });
    const bodies = await open({ address: `s3://${bucket.name}/a/b?addressing=virtual`, env, lookup });
    const page = Buffer.from('by name');
    const key = await bodies.put(sha256(page), page, 'text/html');
    expect(Buffer.from((await bodies.get(key))!).toString()).toBe('by name');
    expect([...(await readBodies(bucket, 'a/b/')).keys()]).toEqual([key]);
    expect(new Set(names)).toEqual(new Set([`${bucket.name}.${S3_DOMAIN}`]));
  });

  it('is opened by its address, with everything else from the environment or the shared file', async () => {
    const server = await sharedS3();
    const bucket = await makeBucket(server);
    const folder = mkdtempSync(join(tmpdir(), 'sumi-aws-'));
    const file = join(folder, 'credentials');
    writeFileSync(
      file,
      `[default]\naws_access_key_id = nobody\n[crawl]\naws_access_key_id = ${server.accessKey}\naws_secret_access_key=${server.secretKey}\n`,
    );
    const before = { ...process.env };
    Object.assign(process.env, {
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      AWS_ENDPOINT_URL_S3: server.endpoint,
      AWS_SHARED_CREDENTIALS_FILE: file,
      AWS_PROFILE: 'crawl',
    });
    try {
      const bodies = (await openBodies(`s3://${bucket.name}`))!;
      opened.push(bodies);
      const key = await bodies.put(sha256(Buffer.from('x')), Buffer.from('x'), null);
      expect((await readBodies(bucket, '')).get(key)?.toString()).toBe('x');
    } finally {
      process.env = before;
      rmSync(folder, { recursive: true });
    }
  });

  it('has nothing in it after it was only opened', async () => {
    const server = await sharedS3();
    const bucket = await makeBucket(server);
    await open({ address: `s3://${bucket.name}`, env: environment(server) });
    expect([(await bucket.list()).size, await bucket.unfinished()]).toEqual([0, 0]);
  });
});

describe('what the operator got wrong is one error with exit code 4 and without credentials', () => {
  const SECRET = 'kept-to-myself';

  it.each([
    ['secret', { AWS_SECRET_ACCESS_KEY: SECRET }, 's3-credentials', 'SignatureDoesNotMatch'],
    ['key', { AWS_ACCESS_KEY_ID: SECRET }, 's3-credentials', 'InvalidAccessKeyId'],
  ])('a wrong %s', async (_, wrong, code, said) => {
    const server = await sharedS3();
    const bucket = await makeBucket(server);
    const env = { ...environment(server), ...wrong };
    const error = await refusalOf(
      openS3Bodies({ address: `s3://${bucket.name}`, env }),
      SECRET,
      server.secretKey,
    );
    expect(error).toMatchObject({ code, message: expect.stringContaining(said) });
  });

  it('a bucket that is not there', async () => {
    const server = await sharedS3();
    const error = await refusalOf(
      openS3Bodies({ address: 's3://nobody-made-this/x', env: environment(server) }),
    );
    expect(error).toMatchObject({
      code: 's3-bucket-missing',
      message: expect.stringContaining('"nobody-made-this"'),
    });
  });

  it('credentials that may only read; what is there they can read', async () => {
    const server = await sharedS3();
    const bucket = await makeBucket(server);
    const keys = ['--access-key=readerkey', '--secret-key=readersecret'];
    const reader = ['--uid=crawl', '--subuser=crawl:reader', '--key-type=s3', '--access=read'];
    await administer(server, 'subuser', 'create', ...reader, ...keys);
    const own = await open({ address: `s3://${bucket.name}`, env: environment(server) });
    const key = await own.put(sha256(Buffer.from('x')), Buffer.from('x'), null);
    const env = environment({ ...server, accessKey: 'readerkey', secretKey: 'readersecret' });
    const options = { address: `s3://${bucket.name}`, env };
    const error = await refusalOf(openS3Bodies(options), 'readersecret');
    expect(error).toMatchObject({ code: 's3-denied', message: expect.stringContaining('AccessDenied') });
    const reading = await open({ ...options, isReadOnly: true });
    expect(Buffer.from((await reading.get(key))!).toString()).toBe('x');
  });

  it('no credentials at all: every place that was looked at is named', async () => {
    const env = {
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      HOME: '/nowhere',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    const error = await refusalOf(openS3Bodies({ address: 's3://bucket', env }));
    expect(error.code).toBe('s3-no-credentials');
    expect(error.message).toMatch(
      /AWS_ACCESS_KEY_ID is not set; there is no file \/nowhere\/\.aws\/credentials; .*switched off/,
    );
  });

  it.each([
    ['a web site', 404, 'text/html', '<h1>Not found</h1>'],
    ['a page that is content with everything', 200, 'text/html', '<h1>Welcome</h1>'],
    ['a door keeper', 403, 'text/html', '<h1>Forbidden</h1>'],
  ])('an endpoint that is %s', async (_, status, type, body) => {
    const site = createServer((_, response) =>
      response.writeHead(status, { 'content-type': type }).end(body),
    );
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://${SECRET}:${SECRET}@127.0.0.1:${(site.address() as AddressInfo).port}`;
    const env = environment({ endpoint, accessKey: 'k', secretKey: SECRET });
    const error = await refusalOf(openS3Bodies({ address: 's3://bucket', env }), SECRET);
    expect(error).toMatchObject({ code: 's3-not-s3', message: expect.stringContaining(`http ${status}`) });
    site.close();
  });

  it('an endpoint that does not speak HTTP, or not in the clear', async () => {
    const mail = createTcpServer((socket) => socket.on('error', () => {}).end('220 mail.example ESMTP\r\n'));
    await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', resolve));
    for (const scheme of ['http', 'https']) {
      const endpoint = `${scheme}://127.0.0.1:${(mail.address() as AddressInfo).port}`;
      const env = environment({ endpoint, accessKey: 'k', secretKey: SECRET });
      const error = await refusalOf(
        openS3Bodies({ address: 's3://bucket', env, clock: fastClock(50) }),
        SECRET,
      );
      expect(error.code, scheme).toBe('s3-not-s3');
    }
    mail.close();
  });

  it('an endpoint where nobody listens, and one that is no address', async () => {
    const env = environment({ endpoint: 'http://127.0.0.1:1', accessKey: 'k', secretKey: SECRET });
    const error = await refusalOf(
      openS3Bodies({ address: 's3://bucket', env, clock: fastClock(50) }),
      SECRET,
    );
    expect(error).toMatchObject({ code: 's3-unreachable', message: expect.stringContaining('ECONNREFUSED') });
    const wrong = { ...env, AWS_ENDPOINT_URL: `user:${SECRET}@host` };
    expect((await refusalOf(openS3Bodies({ address: 's3://bucket', env: wrong }), SECRET)).code).toBe(
      's3-endpoint-invalid',
    );
  });

  it('a bucket of another region', async () => {
    const { proxy, options } = await proxied();
    proxy.answerWith(() => s3Error(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'eu-west-3' }));
    const error = await refusalOf(openS3Bodies(options));
    expect(error).toMatchObject({ code: 's3-region', hint: 'Set AWS_REGION=eu-west-3.' });
  });
});

describe('a server in trouble', () => {
  const pages = Array.from({ length: 40 }, (_, n) => Buffer.from(`page ${n} `.repeat(100)));

  it('that is gone for a minute and a half is waited for, and every body arrives', async () => {
    const { bucket, proxy, options } = await proxied();
    const clock = fastClock(100);
    const bodies = await open({ ...options, clock });
    await proxy.goAway();
    const puts = pages.map(async (page) => bodies.put(sha256(page), page, 'text/html'));
    await new Promise<void>((resolve) => clock.after(90_000, resolve));
    await proxy.comeBack();
    expect(new Set(await Promise.all(puts)).size).toBe(40);
    expect((await readBodies(bucket, '')).size).toBe(40);
  });

  it('that stays away longer than the patience is told of', async () => {
    const { proxy, options } = await proxied();
    const bodies = await open({ ...options, clock: fastClock(1000), patienceMs: 60_000 });
    await proxy.goAway();
    const error = await refusalOf(Promise.resolve(bodies.put(sha256(pages[0]), pages[0], null)));
    expect(error).toMatchObject({ code: 's3-unreachable', message: expect.stringContaining('ECONNREFUSED') });
    await proxy.comeBack();
    expect(await bodies.put(sha256(pages[0]), pages[0], null)).toHaveLength(64);
  });

  it('that says SlowDown is asked again later, with growing pauses', async () => {
    const { bucket, proxy, options } = await proxied();
    const bodies = await open({ ...options, random: () => 0 });
    let left = 100;
    proxy.answerWith(() => (left-- > 0 ? s3Error(503, 'SlowDown') : null));
    await Promise.all(pages.map((page) => bodies.put(sha256(page), page, null)));
    expect((await readBodies(bucket, '')).size).toBe(40);
  });

  it('that finds our clock wrong is believed', async () => {
    const { proxy, options } = await proxied();
    const times: string[] = [];
    proxy.answerWith(({ headers }) => {
      times.push(String(headers['x-amz-date']));
      const date = new Date(Date.now() + 3 * 3_600_000).toUTCString();
      return times.length === 1
        ? s3Error(403, 'RequestTimeTooSkewed', { date })
        : s3Error(404, 'NoSuchBucket');
    });
    await refusalOf(openS3Bodies(options));
    const [first, second] = times.map((time) => Number(time.slice(0, 8)) * 24 + Number(time.slice(9, 11)));
    expect(second).not.toBe(first);
  });

  it('is asked for no more at once than it may be: who comes later waits', async () => {
    const { bucket, proxy, options } = await proxied();
    const bodies = await open({ ...options, mostUploads: 3 });
    proxy.delay(20, systemClock);
    await Promise.all(pages.map((page) => bodies.put(sha256(page), page, null)));
    expect(proxy.mostAtOnce).toBe(3);
    expect((await readBodies(bucket, '')).size).toBe(40);
  });

  it('keeps nobody waiting who closes: what was on its way is rejected', async () => {
    const { proxy, options } = await proxied();
    const bodies = await openS3Bodies({ ...options, mostUploads: 2 });
    await proxy.goAway();
    const puts = pages.slice(0, 6).map((page) => Promise.resolve(bodies.put(sha256(page), page, null)));
    const results = Promise.allSettled(puts);
    await bodies.close();
    for (const result of await results)
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'bodies-closed' } });
  });
});

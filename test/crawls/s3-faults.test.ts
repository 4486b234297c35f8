/**
 * Whole crawls whose bodies go to a real S3 server that has its troubles. Judges are the bucket, read without the
 * adapter, the rows, and the fake web's own log: every processed page has its body there, byte for byte, and no page is
 * lost. Pauses are really waited for, on a clock that runs faster.
 */
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { exitCodeOf, SumiError } from '../../src/errors.ts';
import { type Clock, systemClock } from '../../src/primitives/clock.ts';
import type { BodyStore } from '../../src/store/bodies.ts';
import { openS3Bodies } from '../../src/store/s3/s3-bodies.ts';
import { type FaultProxy, s3Error, startFaultProxy } from '../servers/fault-proxy.ts';
import { type Bucket, makeBucket, readBodies } from '../servers/s3-bucket.ts';
import { sharedS3 } from '../servers/shared-s3.ts';
import { administer, type S3Access } from '../servers/start-s3.ts';
import type { FakeWeb } from '../web/fake-web.ts';
import { asked, type CrawlFile, fastClock, useBench } from './crawl-site.ts';

const bench = useBench();
const PAGES = 60;
const PREFIX = 'bodies/';
const proxies: FaultProxy[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close();
});

interface Scene {
  server: S3Access;
  bucket: Bucket;
  proxy: FaultProxy;
  web: FakeWeb;
  file: CrawlFile;
  clock: Clock;
  open(given?: { accessKey: string; secretKey: string; patienceMs?: number }): Promise<BodyStore>;
  /** Resolves when the bucket has been asked to take so many bodies. */
  puts(count: number): Promise<void>;
}

async function setScene(): Promise<Scene> {
  const server = await sharedS3();
  const bucket = await makeBucket(server);
  const proxy = await startFaultProxy(server.endpoint);
  proxies.push(proxy);
  const clock = fastClock(20);
  return {
    server,
    bucket,
    proxy,
    clock,
    web: await bench.web({ graph: { seed: 77, pages: PAGES } }),
    file: bench.file(),
    open: ({ accessKey, secretKey, patienceMs } = server) =>
      openS3Bodies({
        address: `s3://${bucket.name}/${PREFIX}`,
        env: {
          AWS_ENDPOINT_URL: proxy.endpoint,
          AWS_ACCESS_KEY_ID: accessKey,
          AWS_SECRET_ACCESS_KEY: secretKey,
        },
        clock,
        patienceMs,
      }),
    async puts(count) {
      const seen = () => proxy.seen.filter((line) => line.startsWith('PUT')).length;
      while (seen() < count) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const OPTIONS = { perHost: 4, concurrency: 4 };

/** Every processed page points to its body and every page of the site is processed; answers how many bodies there are. */
async function judge({ bucket, file, web }: Scene): Promise<number> {
  const bodies = await readBodies(bucket, PREFIX);
  const rows = file.pages();
  expect(rows.map(({ state }) => state)).toEqual(rows.map(() => 'Processed'));
  expect(rows).toHaveLength(PAGES);
  for (const { fetch_url, body_key, content_hash } of rows) {
    const answer = Buffer.from(await (await fetch(fetch_url)).arrayBuffer());
    expect(body_key, fetch_url).toBe(createHash('sha256').update(answer).digest('hex'));
    expect(body_key).toBe(content_hash);
    expect(bodies.get(body_key!)?.equals(answer), fetch_url).toBe(true);
  }
  expect(new Set(asked(web)).size).toBe(PAGES);
  return bodies.size;
}

describe('bodies in S3', () => {
  it('are all there after a crawl that nothing disturbed, with one upload each', async () => {
    const scene = await setScene();
    const { summary } = await bench.crawl(scene.file, scene.web.url('/'), OPTIONS, {
      bodies: await scene.open(),
    });
    expect(summary).toMatchObject({ status: 'completed', pages: PAGES });
    const uploads = scene.proxy.seen.filter((line) => line.startsWith('PUT')).length;
    expect(await judge(scene)).toBe(uploads);
  });

  it('wait out a server that is gone for 20 seconds, and no page is asked for twice', async () => {
    const scene = await setScene();
    const { proxy, clock, web } = scene;
    const begun = await bench.begin(scene.file, web.url('/'), OPTIONS, { bodies: await scene.open(), clock });
    await scene.puts(15);
    await proxy.goAway();
    const before = asked(web).length;
    await new Promise<void>((resolve) => clock.after(20_000, resolve));
    // Whoever cannot keep what it has fetches no more.
    expect(asked(web).length - before).toBeLessThanOrEqual(2 * OPTIONS.concurrency);
    await proxy.comeBack();
    expect(await begun.finished).toMatchObject({ status: 'completed', pages: PAGES });
    expect(asked(web)).toHaveLength(PAGES);
    await judge(scene);
  });

  it('wait for a slow server', async () => {
    const scene = await setScene();
    scene.proxy.delay(30, systemClock);
    const { summary } = await bench.crawl(scene.file, scene.web.url('/'), OPTIONS, {
      bodies: await scene.open(),
    });
    expect(summary).toMatchObject({ status: 'completed', pages: PAGES });
    expect(asked(scene.web)).toHaveLength(PAGES);
    await judge(scene);
  });

  it('wait out SlowDown', async () => {
    const scene = await setScene();
    const { proxy, web, clock } = scene;
    const begun = await bench.begin(scene.file, web.url('/'), OPTIONS, { bodies: await scene.open(), clock });
    await scene.puts(10);
    let left = 40;
    proxy.answerWith(() => (left-- > 0 ? s3Error(503, 'SlowDown') : null));
    expect(await begun.finished).toMatchObject({ status: 'completed', pages: PAGES });
    expect(left).toBeLessThan(0);
    expect(asked(web)).toHaveLength(PAGES);
    await judge(scene);
  });

  it('whose answers are lost on the way are asked for again and found', async () => {
    const scene = await setScene();
    let nth = 0;
    scene.proxy.answerWith(({ method }) => (method === 'PUT' && nth++ % 3 === 0 ? 'lost' : null));
    const bodies = await scene.open();
    await bench.crawl(scene.file, scene.web.url('/'), OPTIONS, { bodies, clock: scene.clock });
    expect(asked(scene.web)).toHaveLength(PAGES);
    await judge(scene);
  });

  it('whose credentials are withdrawn half-way end the run with exit code 4, and the run goes on with good ones', async () => {
    const scene = await setScene();
    const { server, bucket, web, file } = scene;
    const keys = { accessKey: `key-${bucket.name}`, secretKey: 'withdrawn-soon' };
    const guest = `guest-${bucket.name}`;
    const key = [`--access-key=${keys.accessKey}`, `--secret-key=${keys.secretKey}`];
    await administer(
      server,
      'subuser',
      'create',
      '--uid=crawl',
      `--subuser=crawl:${guest}`,
      '--access=full',
      '--key-type=s3',
      ...key,
    );
    const begun = await bench.begin(
      file,
      web.url('/'),
      { ...OPTIONS, delay: 0.02, perHost: 1 },
      { bodies: await scene.open(keys) },
    );
    await scene.puts(10);
    await administer(server, 'key', 'rm', '--uid=crawl', `--subuser=crawl:${guest}`, '--key-type=s3', key[0]);
    const error = await begun.finished.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(SumiError);
    // While the key is being removed the server may still know it, but no more whose it is.
    expect((error as SumiError).code).toMatch(/^s3-(credentials|denied)$/);
    expect((error as Error).message).toMatch(/InvalidAccessKeyId|AccessDenied/);
    expect(exitCodeOf(error)).toBe(4);
    expect(String((error as Error).message)).not.toContain(keys.secretKey);
    await expectNoRowPointsNowhere(scene);
    const { summary } = await bench.crawl(file, web.url('/'), OPTIONS, { bodies: await scene.open() });
    expect(summary).toMatchObject({ status: 'completed', pages: PAGES, run: begun.runId });
    await judge(scene);
  });

  it('of a server that stays away end the run with exit code 4, and the run goes on when it is back', async () => {
    const scene = await setScene();
    const { proxy, web, file, clock } = scene;
    const bodies = await scene.open({ ...scene.server, patienceMs: 10_000 });
    const begun = await bench.begin(file, web.url('/'), OPTIONS, { bodies, clock });
    await scene.puts(20);
    await proxy.goAway();
    const error = await begun.finished.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 's3-unreachable', exitCode: 4 });
    await expectNoRowPointsNowhere(scene);
    await proxy.comeBack();
    const { summary } = await bench.crawl(file, web.url('/'), OPTIONS, { bodies: await scene.open() });
    expect(summary).toMatchObject({ status: 'completed', pages: PAGES });
    await judge(scene);
  });

  it('of a run that is told to drop them leave their pages for the next one', async () => {
    const scene = await setScene();
    const { proxy, web, file } = scene;
    const bodies = await scene.open();
    const begun = await bench.begin(file, web.url('/'), OPTIONS, { bodies });
    await scene.puts(20);
    await proxy.goAway();
    begun.stop();
    await bodies.close();
    expect(await begun.finished).toMatchObject({ status: 'interrupted' });
    await expectNoRowPointsNowhere(scene);
    await proxy.comeBack();
    await bench.crawl(file, web.url('/'), OPTIONS, { bodies: await scene.open() });
    await judge(scene);
  });
});

async function expectNoRowPointsNowhere({ bucket, file }: Scene): Promise<void> {
  const bodies = await readBodies(bucket, PREFIX);
  const processed = file.pages().filter(({ state }) => state === 'Processed');
  expect(processed.length).toBeGreaterThan(0);
  expect(processed.length).toBeLessThan(PAGES);
  for (const { url, body_key } of processed) expect(bodies.has(body_key!), url).toBe(true);
}

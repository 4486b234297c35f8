/** The command with bodies in a bucket, as a user runs it: on a real S3 server. */
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bucket, makeBucket, readBodies } from '../servers/s3-bucket.ts';
import { sharedS3 } from '../servers/shared-s3.ts';
import type { S3Access } from '../servers/start-s3.ts';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, sumi } from './run-sumi.ts';

let folder: ReturnType<typeof makeFolder>;
let web: FakeWeb;
let server: S3Access;
let bucket: Bucket;

beforeEach(async () => {
  folder = makeFolder();
  web = await startFakeWeb({ graph: { seed: 2, pages: 12 } });
  server = await sharedS3();
  bucket = await makeBucket(server);
});

afterEach(async () => {
  await web.close();
  folder.remove();
});

function run(args: string[], env: Record<string, string> = {}) {
  return sumi(args, {
    cwd: folder.path,
    env: {
      AWS_ENDPOINT_URL: server.endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: server.accessKey,
      AWS_SECRET_ACCESS_KEY: server.secretKey,
      ...env,
    },
  });
}

const crawl = (address: string, env?: Record<string, string>) =>
  run(['crawl', web.origin, '--delay', '0', '--bodies', address], env);

describe('sumi crawl --bodies s3://…', () => {
  it('keeps the bodies of all pages, and `sumi cat --raw` prints them', async () => {
    const { code, stdout } = await crawl(`s3://${bucket.name}/of/12`);
    expect([code, stdout]).toEqual([0, expect.stringContaining('12 pages')]);
    const bodies = await readBodies(bucket, 'of/12/');
    const rows = await run(['pages', '--format', 'json']);
    const pages = JSON.parse(rows.stdout) as { url: string; content_hash: string }[];
    expect(pages).toHaveLength(12);
    for (const { url, content_hash: hash } of pages) expect(bodies.has(hash), url).toBe(true);
    const [{ url, content_hash: hash }] = pages;
    // The run remembers where; another place can be named.
    for (const more of [[], ['--bodies', `s3://${bucket.name}/of/12`]])
      expect(await run(['cat', url, '--raw', ...more])).toEqual({
        code: 0,
        stdout: bodies.get(hash)!.toString(),
        stderr: '',
      });
    const elsewhere = await run(['cat', url, '--raw', '--bodies', `s3://${bucket.name}/elsewhere`]);
    expect(elsewhere).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('code: no-body'),
    });
  });

  it.each([
    ['secret', { AWS_SECRET_ACCESS_KEY: 'not-the-secret' }, 's3-credentials'],
    ['endpoint', { AWS_ENDPOINT_URL_S3: 'WEB' }, 's3-not-s3'],
  ])('with a wrong %s ends at once with exit code 4 and leaves nothing behind', async (_, wrong, code) => {
    const env = Object.fromEntries(
      Object.entries(wrong).map(([name, value]) => [name, value === 'WEB' ? web.origin : value]),
    );
    const end = await crawl(`s3://${bucket.name}`, env);
    expect(end).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining(`code: ${code}`) });
    for (const secret of ['not-the-secret', server.secretKey]) expect(end.stderr).not.toContain(secret);
    expect(existsSync(folder.file('sumi.db'))).toBe(false);
  });

  it('without that bucket ends at once with exit code 4', async () => {
    const end = await crawl('s3://nobody-made-this');
    expect(end).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('code: s3-bucket-missing'),
    });
  });
});

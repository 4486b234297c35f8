import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCredentialSource } from './credentials.ts';
import type { Environment } from './s3-address.ts';

let folder: string;
let servers: Server[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-credentials-'));
  servers = [];
});
afterEach(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

const SHARED = `# of the team
[default]
aws_access_key_id=file-key
aws_secret_access_key = file-secret

[crawl]
aws_access_key_id = crawl-key
aws_secret_access_key = crawl-secret
aws_session_token = crawl-token
[empty]
region = eu-west-1
`;

/** A server of credentials that says what it is told to, and what it was asked. */
async function startServer(answer: (path: string, headers: Record<string, unknown>) => string | null) {
  const asked: string[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    asked.push(`${method} ${url}`);
    const text = answer(url!, headers);
    response.writeHead(text === null ? 401 : 200).end(text ?? '');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const role = (name: string, expiration?: string) =>
  JSON.stringify({
    AccessKeyId: name,
    SecretAccessKey: `${name}-secret`,
    Token: `${name}-token`,
    Expiration: expiration,
  });

function sourceOf(env: Environment, now: () => number = () => 0) {
  const all = { HOME: folder, AWS_EC2_METADATA_DISABLED: 'true', ...env };
  return createCredentialSource({ shown: 's3://crawl', env: all, now });
}

describe('credentials', () => {
  it('come from the environment before all else', async () => {
    const file = join(folder, 'shared');
    writeFileSync(file, SHARED);
    const env = { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's', AWS_SHARED_CREDENTIALS_FILE: file };
    expect(await sourceOf(env).get()).toEqual({
      accessKey: 'k',
      secretKey: 's',
      sessionToken: null,
      expiresAt: null,
    });
    expect(await sourceOf({ ...env, AWS_SESSION_TOKEN: 't' }).get()).toMatchObject({ sessionToken: 't' });
  });

  it('come from the shared file, of the profile that is named', async () => {
    const file = join(folder, 'shared');
    writeFileSync(file, SHARED);
    const env = { AWS_SHARED_CREDENTIALS_FILE: file };
    expect(await sourceOf(env).get()).toMatchObject({
      accessKey: 'file-key',
      secretKey: 'file-secret',
      sessionToken: null,
    });
    expect(await sourceOf({ ...env, AWS_PROFILE: 'crawl' }).get()).toMatchObject({
      accessKey: 'crawl-key',
      sessionToken: 'crawl-token',
    });
    for (const profile of ['empty', 'unknown'])
      await expect(sourceOf({ ...env, AWS_PROFILE: profile }).get()).rejects.toMatchObject({
        code: 's3-no-credentials',
        message: expect.stringContaining(`"${profile}"`),
      });
  });

  it('come from the container, with its token', async () => {
    writeFileSync(join(folder, 'token'), 'for the door\n');
    const { url } = await startServer((_, { authorization }) =>
      authorization === 'for the door' ? role('pod') : null,
    );
    const full = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1` };
    const token = { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(folder, 'token') };
    expect(await sourceOf({ ...full, ...token }).get()).toMatchObject({
      accessKey: 'pod',
      sessionToken: 'pod-token',
    });
    await expect(sourceOf(full).get()).rejects.toThrow('http 401');
    await expect(
      sourceOf({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://credentials.example/v1' }).get(),
    ).rejects.toThrow('not fetched from credentials.example without https');
  });

  it('come from the instance role by version 2 of its protocol', async () => {
    const { url, asked } = await startServer((path, headers) => {
      if (path === '/latest/api/token')
        return headers['x-aws-ec2-metadata-token-ttl-seconds'] ? 'session' : null;
      if (headers['x-aws-ec2-metadata-token'] !== 'session') return null;
      return path.endsWith('/') ? 'crawler' : role('instance', '2030-01-01T00:00:00Z');
    });
    const env = { AWS_EC2_METADATA_DISABLED: undefined, AWS_EC2_METADATA_SERVICE_ENDPOINT: url };
    expect(await sourceOf(env).get()).toMatchObject({
      accessKey: 'instance',
      expiresAt: Date.UTC(2030, 0, 1),
    });
    expect(asked).toEqual([
      'PUT /latest/api/token',
      'GET /latest/meta-data/iam/security-credentials/',
      'GET /latest/meta-data/iam/security-credentials/crawler',
    ]);
  });

  it('that end are fetched again before they do, once for all who ask', async () => {
    const HOUR = 3_600_000;
    let now = 0;
    let isDown = false;
    const { url, asked } = await startServer(() =>
      isDown ? null : role(`role-${asked.length}`, new Date(asked.length * HOUR).toISOString()),
    );
    const source = sourceOf({ AWS_CONTAINER_CREDENTIALS_FULL_URI: url }, () => now);
    const first = await Promise.all([source.get(), source.get(), source.get()]);
    expect(new Set(first.map(({ accessKey }) => accessKey))).toEqual(new Set(['role-1']));
    now = HOUR - 6 * 60_000;
    expect(await source.get()).toMatchObject({ accessKey: 'role-1' });
    now = HOUR - 60_000;
    isDown = true;
    expect(await source.get()).toMatchObject({ accessKey: 'role-1' });
    isDown = false;
    expect(await source.get()).toMatchObject({ accessKey: 'role-3' });
    now = 4 * HOUR;
    isDown = true;
    await expect(source.get()).rejects.toMatchObject({ code: 's3-no-credentials' });
  });

  it('that were refused are looked for again; the same ones are no news', async () => {
    const file = join(folder, 'shared');
    writeFileSync(file, SHARED);
    const source = sourceOf({ AWS_SHARED_CREDENTIALS_FILE: file });
    const refused = await source.get();
    expect(await source.renew(refused)).toBe(false);
    writeFileSync(file, SHARED.replace('file-secret', 'new-secret'));
    expect(await source.renew(refused)).toBe(true);
    expect(await source.get()).toMatchObject({ secretKey: 'new-secret' });
    const fixed = sourceOf({ AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' });
    expect(await fixed.renew(await fixed.get())).toBe(false);
  });

  it('are in no message, also where an answer cannot be read', async () => {
    const { url } = await startServer(() => '{"SecretAccessKey": "hidden", broken');
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_SECRET_ACCESS_KEY: 'hidden' };
    const error = await Promise.resolve(sourceOf(env).get()).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 's3-no-credentials', message: expect.stringContaining('no JSON') });
    expect(String((error as Error).message)).not.toContain('hidden');
  });
});

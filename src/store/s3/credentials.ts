/**
 * Credentials in the usual order: environment, shared file, container, instance role. Promises: the first place that
 * has some decides; those that end are fetched again before they do, once for all who wait; nothing of them is ever in
 * an error's text.
 */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { sumiError } from '../../errors.ts';
import type { Environment } from './s3-address.ts';
import type { Credentials } from './sign-request.ts';

export interface CredentialSource {
  /** At once while those at hand hold. */
  get(): Credentials | Promise<Credentials>;
  /** Looks again after `refused` were not accepted; false when there are no others. */
  renew(refused: Credentials): Promise<boolean>;
}

export interface CredentialOptions {
  /** For messages. */
  shown: string;
  env: Environment;
  /** Wall milliseconds. */
  now: () => number;
}

/** Fetched again so long before they end: a request may be under way for a while. */
const RENEW_BEFORE_MS = 5 * 60_000;
const ASK_TIMEOUT_MS = 2000;
const CONTAINER_HOST = 'http://169.254.170.2';
const INSTANCE_HOST = 'http://169.254.169.254';
/** Over plain http a container's credentials come from these only: no name that could lead elsewhere. */
const TRUSTED_HOSTS: ReadonlySet<string> = new Set([
  'localhost',
  '127.0.0.1',
  '[::1]',
  '169.254.170.2',
  '169.254.170.23',
  '[fd00:ec2::23]',
]);

/** Null: not here. A text: why not, for the message that lists all places. */
type Found = Credentials | string;

export function createCredentialSource(options: CredentialOptions): CredentialSource {
  const { env, now } = options;
  let held: Credentials | null = null;
  let asking: Promise<Credentials> | null = null;

  function ask(): Promise<Credentials> {
    asking ??= findCredentials(options)
      .then((found) => {
        held = found;
        return found;
      })
      .finally(() => {
        asking = null;
      });
    return asking;
  }

  return {
    get() {
      if (held === null) return ask();
      const leftMs = (held.expiresAt ?? Number.POSITIVE_INFINITY) - now();
      if (leftMs > RENEW_BEFORE_MS) return held;
      const last = held;
      // The place they came from may be down for a moment: while they hold they serve.
      return ask().catch((error) => {
        if (leftMs > 0) return last;
        throw error;
      });
    },
    async renew(refused) {
      // Somebody else may have looked meanwhile.
      const found = held !== null && !isSame(held, refused) ? held : await findAgain(refused);
      return !isSame(found, refused);
    },
  };

  /** What the environment says does not change while we run. */
  async function findAgain(refused: Credentials): Promise<Credentials> {
    return env.AWS_ACCESS_KEY_ID && env.AWS_SECRET_ACCESS_KEY ? refused : ask();
  }
}

function isSame(one: Credentials, other: Credentials): boolean {
  const { accessKey, secretKey, sessionToken } = one;
  return (
    accessKey === other.accessKey && secretKey === other.secretKey && sessionToken === other.sessionToken
  );
}

async function findCredentials({ shown, env }: CredentialOptions): Promise<Credentials> {
  const reasons: string[] = [];
  for (const look of [fromEnvironment, fromSharedFile, fromContainer, fromInstance]) {
    const found = await look(env);
    if (typeof found !== 'string') return found;
    reasons.push(found);
  }
  throw sumiError('s3-no-credentials', { address: shown, reason: reasons.join('; ') });
}

async function fromEnvironment(env: Environment): Promise<Found> {
  const { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey, AWS_SESSION_TOKEN: token } = env;
  if (accessKey && secretKey) return { accessKey, secretKey, sessionToken: token || null, expiresAt: null };
  return accessKey || secretKey
    ? `of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only one is set`
    : 'AWS_ACCESS_KEY_ID is not set';
}

async function fromSharedFile(env: Environment): Promise<Found> {
  const file = env.AWS_SHARED_CREDENTIALS_FILE || join(env.HOME || homedir(), '.aws', 'credentials');
  const profile = env.AWS_PROFILE || 'default';
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? `there is no file ${file}` : `${file} cannot be read (${code})`;
  }
  const section = readSection(text, profile);
  if (section === null) return `${file} has no profile "${profile}"`;
  const accessKey = section.get('aws_access_key_id');
  const secretKey = section.get('aws_secret_access_key');
  if (!accessKey || !secretKey) return `the profile "${profile}" of ${file} has no keys`;
  return { accessKey, secretKey, sessionToken: section.get('aws_session_token') || null, expiresAt: null };
}

function readSection(text: string, wanted: string): Map<string, string> | null {
  let section: Map<string, string> | null = null;
  let isInside = false;
  for (const line of text.split(/\r?\n/)) {
    const name = /^\s*\[([^\]]*)\]/.exec(line)?.[1].trim();
    if (name !== undefined) {
      isInside = name === wanted;
      if (isInside) section ??= new Map();
      continue;
    }
    const pair = /^([A-Za-z_]+)\s*=\s*(.*?)\s*$/.exec(line);
    if (isInside && pair !== null) section!.set(pair[1].toLowerCase(), pair[2]);
  }
  return section;
}

async function fromContainer(env: Environment): Promise<Found> {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = env;
  if (!path && !full) return 'no container credentials are named';
  const address = path ? `${CONTAINER_HOST}${path}` : full!;
  if (!URL.canParse(address)) return 'AWS_CONTAINER_CREDENTIALS_FULL_URI is not a URL';
  const { protocol, hostname } = new URL(address);
  if (protocol !== 'https:' && !TRUSTED_HOSTS.has(hostname))
    return `container credentials are not fetched from ${hostname} without https`;
  const headers: Record<string, string> = {};
  try {
    const tokenFile = env.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
    const token = tokenFile
      ? (await readFile(tokenFile, 'utf8')).trim()
      : env.AWS_CONTAINER_AUTHORIZATION_TOKEN;
    if (token) headers.authorization = token;
    return readAnswer(await ask(address, 'GET', headers));
  } catch (error) {
    return `the container's credentials could not be fetched (${reasonOf(error)})`;
  }
}

/** IMDSv2: first a token, then the role's name, then its credentials. */
async function fromInstance(env: Environment): Promise<Found> {
  if (env.AWS_EC2_METADATA_DISABLED?.toLowerCase() === 'true') return 'instance metadata is switched off';
  const host = (env.AWS_EC2_METADATA_SERVICE_ENDPOINT || INSTANCE_HOST).replace(/\/+$/, '');
  try {
    const token = await ask(`${host}/latest/api/token`, 'PUT', {
      'x-aws-ec2-metadata-token-ttl-seconds': '21600',
    });
    const headers = { 'x-aws-ec2-metadata-token': token };
    const roles = `${host}/latest/meta-data/iam/security-credentials/`;
    const [role] = (await ask(roles, 'GET', headers)).split('\n');
    return readAnswer(await ask(`${roles}${role.trim()}`, 'GET', headers));
  } catch (error) {
    return `no instance role answered (${reasonOf(error)})`;
  }
}

async function ask(url: string, method: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(url, { method, headers, signal: AbortSignal.timeout(ASK_TIMEOUT_MS) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`http ${response.status}`);
  return text;
}

function readAnswer(text: string): Credentials {
  let said: Record<string, unknown>;
  try {
    said = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // The parser's own message would quote the text.
    throw new Error('the answer is no JSON');
  }
  const { AccessKeyId: accessKey, SecretAccessKey: secretKey, Token: token, Expiration: end } = said;
  if (typeof accessKey !== 'string' || typeof secretKey !== 'string')
    throw new Error('the answer names no keys');
  const expiresAt = typeof end === 'string' ? Date.parse(end) : Number.NaN;
  return {
    accessKey,
    secretKey,
    sessionToken: typeof token === 'string' ? token : null,
    expiresAt: Number.isNaN(expiresAt) ? null : expiresAt,
  };
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  return name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? message);
}

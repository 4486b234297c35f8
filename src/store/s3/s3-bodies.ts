/**
 * Bodies in a bucket of any S3-compatible store: <prefix>/<first two hex digits>/<hash>.gz, the names that a folder of
 * bodies has. Promises: `put` answers when the object is there, whoever put it; equal bodies are sent once as far as
 * this process remembers, and never overwrite each other; what is held in memory is bounded, a `put` that finds no room
 * waits. Never answers for a body that the server has not confirmed.
 */
import { createHash } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { gunzip, gzip, gzipSync } from 'node:zlib';
import { sumiError } from '../../errors.ts';
import { type Clock, systemClock } from '../../primitives/clock.ts';
import type { BodyStore } from '../bodies.ts';
import { createCredentialSource } from './credentials.ts';
import { type Environment, readS3Address, type S3Place } from './s3-address.ts';
import { codeOf, refusal } from './s3-answer.ts';
import { createS3Client, type S3Client } from './s3-client.ts';
import { openConnection } from './s3-connection.ts';
import { abandonParts, beginParts, exists, uploadInParts } from './upload-parts.ts';
import { createUploadRoom } from './upload-room.ts';

export interface S3BodiesOptions {
  /** s3://bucket/prefix */
  address: string;
  /** AWS_…: endpoint, region, credentials. */
  env: Environment;
  /** Only `get` will be asked: nothing is checked beforehand. */
  isReadOnly?: boolean;
  clock?: Clock;
  /** How long a server that does not answer is waited for. */
  patienceMs?: number;
  random?: () => number;
  /** Larger objects are sent in parts of this size; S3 takes none below 5 MB. */
  partBytes?: number;
  mostUploads?: number;
  /** Of all uploads under way. */
  mostBytes?: number;
  lookup?: LookupFunction;
}

const WRITE = 'write to';
const READ = 'read from';
const PATIENCE_MS = 300_000;
/** A wrong endpoint is a mistake to be told soon, a server that restarts is back in a moment. */
const OPENING_PATIENCE_MS = 3000;
const PART_BYTES = 16 * 1024 * 1024;
const MOST_UPLOADS = 32;
const MOST_BYTES = 64 * 1024 * 1024;
/** Keys that are known to be there: about 100 bytes each. */
const REMEMBERED = 16_384;
/** Compressed at once: cheaper than on another thread, and too short to keep others waiting. */
const AT_ONCE_BYTES = 128 * 1024;
/** Half the CPU of zlib's usual level for about a sixth more bytes. */
const LEVEL = 4;
const MOST_STORED_BYTES = 2 ** 31;
const CHECK_KEY = 'write-check';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export async function openS3Bodies(options: S3BodiesOptions): Promise<BodyStore> {
  const { clock = systemClock, mostUploads = MOST_UPLOADS, isReadOnly = false } = options;
  const place = readS3Address(options.address, options.env);
  const { origin, shown } = place;
  const client = createS3Client({
    place,
    credentials: createCredentialSource({ shown, env: options.env, now: Date.now }),
    connection: openConnection({ origin, connections: mostUploads + 4, lookup: options.lookup }),
    clock,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
    now: Date.now,
    random: options.random ?? Math.random,
  });
  try {
    if (!isReadOnly) await checkWriting(client, place);
  } catch (error) {
    await client.close();
    throw error;
  }
  const put = createPut(client, place, options);
  return {
    put,
    get: (key) => read(client, place, key),
    close: () => client.close(),
  };
}

/** Begins an upload and drops it: the right to write is asked for, and nothing is left in the bucket. */
async function checkWriting(client: S3Client, place: S3Place): Promise<void> {
  const about = { key: CHECK_KEY, headers: {}, action: WRITE, place };
  const id = await beginParts(client, about, OPENING_PATIENCE_MS);
  await abandonParts(client, CHECK_KEY, id, WRITE);
}

function createPut(client: S3Client, place: S3Place, options: S3BodiesOptions): BodyStore['put'] {
  const { partBytes = PART_BYTES, mostUploads = MOST_UPLOADS, mostBytes = MOST_BYTES } = options;
  const room = createUploadRoom(mostUploads, mostBytes);
  const underWay = new Map<string, Promise<string>>();
  const stored = new Set<string>();
  let isConditional = true;

  async function store(key: string, bytes: Uint8Array, contentType: string | null): Promise<string> {
    let held = bytes.length;
    const entered = room.enter(held);
    // The caller's bytes, which are its own again only when this answers.
    if (entered !== null) await entered;
    try {
      const packed =
        bytes.length <= AT_ONCE_BYTES
          ? gzipSync(bytes, { level: LEVEL })
          : await compress(bytes.slice(), { level: LEVEL });
      // Little that is compressed takes a little more.
      room.shrink(held - packed.length);
      held = packed.length;
      await upload(objectOf(key), packed, metadata(contentType));
      remember(key);
      return key;
    } finally {
      room.leave(held);
    }
  }

  async function upload(key: string, bytes: Buffer, headers: Record<string, string>): Promise<void> {
    if (bytes.length > partBytes) {
      // Many parts are worth a question first.
      if (await exists(client, key, WRITE)) return;
      return uploadInParts(client, { key, bytes, partBytes, headers, action: WRITE, place });
    }
    const bodyHash = createHash('sha256').update(bytes).digest();
    const whole = { ...headers, 'x-amz-checksum-sha256': bodyHash.toString('base64') };
    const send = () =>
      client.call({
        method: 'PUT',
        key,
        body: bytes,
        bodyHash,
        headers: isConditional ? { ...whole, 'if-none-match': '*' } : whole,
        action: WRITE,
        // 412: it is there.
        accepts: [412, 501],
      });
    let answer = await send();
    if (answer.status === 501 && isConditional) {
      // A server that does not know the condition: equal bytes overwrite equal bytes.
      isConditional = false;
      answer = await send();
    }
    if (answer.status === 501) throw refusal(answer, place, WRITE);
  }

  function remember(key: string): void {
    stored.add(key);
    if (stored.size > REMEMBERED)
      for (const oldest of stored) {
        stored.delete(oldest);
        break;
      }
  }

  return (hash, bytes, contentType) => {
    const key = Buffer.from(hash).toString('hex');
    if (stored.has(key)) return key;
    const others = underWay.get(key);
    if (others !== undefined) return others;
    const own = store(key, bytes, contentType).finally(() => underWay.delete(key));
    underWay.set(key, own);
    return own;
  };
}

async function read(client: S3Client, place: S3Place, key: string): Promise<Uint8Array | null> {
  if (!/^[0-9a-f]{64}$/.test(key)) return null;
  const answer = await client.call({
    method: 'GET',
    key: objectOf(key),
    action: READ,
    accepts: [404],
    mostBytes: MOST_STORED_BYTES,
  });
  if (answer.status !== 404) return unpack(answer.body, key, place);
  if (codeOf(answer) !== 'NoSuchKey') throw refusal(answer, place, READ);
  return null;
}

async function unpack(
  bytes: Buffer,
  key: string,
  { endpoint, shown: address }: S3Place,
): Promise<Uint8Array> {
  try {
    return await decompress(bytes);
  } catch (error) {
    const reason = `the object of ${key} is not what was put there (${(error as Error).message})`;
    throw sumiError('s3-failed', { endpoint, action: READ, address, reason }, error);
  }
}

function objectOf(key: string): string {
  return `${key.slice(0, 2)}/${key}.gz`;
}

/** What a site says its type is may be anything; a header line must be one. */
function metadata(contentType: string | null): Record<string, string> {
  const type = contentType?.trim().replace(/\s+/g, ' ') ?? '';
  const isUsable = /^[\x21-\x7e][\x20-\x7e]{0,255}$/.test(type);
  return { 'content-type': isUsable ? type : 'application/octet-stream', 'content-encoding': 'gzip' };
}

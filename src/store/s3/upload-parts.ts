/** An object too large for one request, in parts. Promises: whole or not there; parts of a failed upload are removed. */
import { createHash } from 'node:crypto';
import { SumiError, sumiError } from '../../errors.ts';
import type { S3Place } from './s3-address.ts';
import { elementOf } from './s3-answer.ts';
import type { S3Client } from './s3-client.ts';
import type { S3Answer } from './s3-connection.ts';

export interface PartedUpload {
  key: string;
  bytes: Buffer;
  partBytes: number;
  headers: Record<string, string>;
  action: string;
  /** For messages. */
  place: S3Place;
}

/** What the parts of a failed upload may cost in time to remove; the server's own rules remove what we could not. */
const CLEAN_UP_PATIENCE_MS = 2000;

export async function uploadInParts(client: S3Client, upload: PartedUpload): Promise<void> {
  const { key, bytes, partBytes, headers, action, place } = upload;
  const id = await beginParts(client, { key, headers, action, place });
  try {
    const parts: string[] = [];
    for (let from = 0; from < bytes.length; from += partBytes) {
      const number = parts.length + 1;
      const body = bytes.subarray(from, from + partBytes);
      const bodyHash = createHash('sha256').update(body).digest();
      const query = [
        ['partNumber', `${number}`],
        ['uploadId', id],
      ] as const;
      const answer = await client.call({ method: 'PUT', key, query, body, bodyHash, action });
      const etag = String(answer.headers.etag).replace(/"/g, '');
      parts.push(`<Part><PartNumber>${number}</PartNumber><ETag>&quot;${etag}&quot;</ETag></Part>`);
    }
    const list = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const end = { method: 'POST', key, query: [['uploadId', id]], body: list, action } as const;
    // Asked twice because the first answer was lost, the server says that there is no such upload any more.
    const answer = await client.call({ ...end, accepts: [404] });
    if (answer.status === 404 && !(await exists(client, key, action)))
      throw unfinished(place, action, answer);
    // The answer begins before the parts are joined: an error may come with status 200.
    if (answer.status === 200 && elementOf(answer.body, 'Code') !== null)
      throw unfinished(place, action, answer);
  } catch (error) {
    if (!(error instanceof SumiError && error.code === 'bodies-closed'))
      await abandonParts(client, key, id, action);
    throw error;
  }
}

/** Opens an upload in parts: writes nothing, and is refused where writing would be. */
export async function beginParts(
  client: S3Client,
  { key, headers, action, place }: Pick<PartedUpload, 'key' | 'headers' | 'action' | 'place'>,
  patienceMs?: number,
): Promise<string> {
  const answer = await client.call(
    { method: 'POST', key, query: [['uploads', '']], headers, action },
    patienceMs,
  );
  const id = elementOf(answer.body, 'UploadId');
  if (id === null)
    throw sumiError('s3-not-s3', {
      endpoint: place.endpoint,
      reason: `it answered http ${answer.status} without an upload's id`,
    });
  return id;
}

export async function abandonParts(client: S3Client, key: string, id: string, action: string): Promise<void> {
  const abort = { method: 'DELETE', key, query: [['uploadId', id]], action, accepts: [404, 403] } as const;
  try {
    await client.call(abort, CLEAN_UP_PATIENCE_MS);
  } catch (error) {
    // What went wrong before this is the news.
    if (!(error instanceof SumiError)) throw error;
  }
}

/** HEAD of what is not there is 403 where listing is not allowed. */
export async function exists(client: S3Client, key: string, action: string): Promise<boolean> {
  const { status } = await client.call({ method: 'HEAD', key, action, accepts: [404, 403] });
  return status === 200;
}

function unfinished({ endpoint, shown: address }: S3Place, action: string, answer: S3Answer): SumiError {
  const reason = `an upload in parts ended with ${elementOf(answer.body, 'Code') ?? `http ${answer.status}`}`;
  return sumiError('s3-failed', { endpoint, action, address, reason });
}

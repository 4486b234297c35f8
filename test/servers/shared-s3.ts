/** The one S3 server of a whole test run, started when the first test asks for it (share-servers.ts). */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import type { S3Access } from './start-s3.ts';

let asked: Promise<S3Access> | undefined;

export function sharedS3(): Promise<S3Access> {
  asked ??= askFor();
  return asked;
}

async function askFor(): Promise<S3Access> {
  const socket = connect(inject('sharedServers'));
  socket.write('s3');
  const answer = JSON.parse(await text(socket)) as S3Access | { error: string };
  if ('error' in answer) throw new Error(answer.error);
  return answer;
}

/** The one PostgreSQL server of a whole test run; started when the first test asks for it (share-servers.ts). */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import { attachPostgres, type PostgresDatabases } from './start-postgres.ts';

let asked: Promise<PostgresDatabases> | undefined;

export function sharedPostgres(): Promise<PostgresDatabases> {
  asked ??= askFor();
  return asked;
}

async function askFor(): Promise<PostgresDatabases> {
  const socket = connect(inject('sharedServers'));
  socket.write('postgres');
  const answer = JSON.parse(await text(socket)) as { port: number } | { error: string };
  if ('error' in answer) throw new Error(answer.error);
  return attachPostgres(answer.port);
}

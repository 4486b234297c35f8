/**
 * Servers that all test files of a run share: each starts when the first test asks for it, and stops with the run. The
 * test files run in processes of their own, so they ask this one through a socket.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './start-postgres.ts';
import { type S3Server, startS3 } from './start-s3.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    sharedServers: string;
  }
}

export default async function shareServers(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-servers-'));
  let postgres: Promise<PostgresServer> | undefined;
  let s3: Promise<S3Server> | undefined;
  const answer = async (wanted: string) => {
    if (wanted === 's3') {
      s3 ??= startS3();
      const { stop: _, ...access } = await s3;
      return access;
    }
    if (wanted !== 'postgres') throw new Error(`there is no shared server "${wanted}"`);
    postgres ??= startPostgres();
    return { port: (await postgres).port };
  };
  const door = createServer((socket) => {
    socket.setEncoding('utf8').once('data', (wanted) => {
      answer(String(wanted)).then(
        (found) => socket.end(JSON.stringify(found)),
        (error) => socket.end(JSON.stringify({ error: String(error?.stack ?? error) })),
      );
    });
  });
  const address = join(folder, 'door');
  await new Promise<void>((resolve) => door.listen(address, resolve));
  project.provide('sharedServers', address);
  return async () => {
    door.close();
    // Whoever asked for one that could not start was told so.
    await (await postgres?.catch(() => undefined))?.remove();
    await (await s3?.catch(() => undefined))?.stop();
    rmSync(folder, { recursive: true });
  };
}

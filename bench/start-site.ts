// The parent's side of site-server.ts: starts the synthetic site in its own process and asks it questions.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { REPOSITORY } from './run-sumi.ts';
import type { Order, SeenRequest, WebOptions } from './site-server.ts';

export interface SiteProcess {
  origins: string[];
  /** Resolves when the server has seen so many requests since the log was last forgotten. */
  reached(requests: number): Promise<void>;
  /** How many requests have arrived, after everything already sent to the server was read. */
  mark(): Promise<number>;
  log(): Promise<SeenRequest[]>;
  forget(): Promise<void>;
  stop(): Promise<void>;
}

type Question = Order extends infer One ? (One extends Order ? Omit<One, 'id'> : never) : never;

export async function startSite(web: WebOptions, keepLog: boolean, latencyMs = 0): Promise<SiteProcess> {
  const child = fork(join(REPOSITORY, 'bench', 'site-server.ts'), [], {
    cwd: REPOSITORY,
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
  });
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let lastId = 0;
  child.on('message', ({ id, value }: { id: number; value: unknown }) => {
    open.get(id)?.resolve(value);
    open.delete(id);
  });
  child.once('exit', (code) => {
    for (const { reject } of open.values()) reject(new Error(`the site's process ended with ${code}`));
  });
  const ask = <T>(question: Question): Promise<T> =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      open.set(id, { resolve: resolve as (value: unknown) => void, reject });
      child.send({ ...question, id });
    });
  const { origins } = await ask<{ origins: string[] }>({ kind: 'serve', web, keepLog, latencyMs });
  return {
    origins,
    reached: (requests) => ask({ kind: 'reached', requests }),
    mark: () => ask({ kind: 'mark' }),
    log: () => ask({ kind: 'log' }),
    forget: () => ask({ kind: 'forget' }),
    stop: () =>
      new Promise((resolve) => {
        // Questions still open are about a site that is not needed any more.
        open.clear();
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  };
}

/**
 * Clients whose queries are cancelled at the server when a signal says so. Only while they are waited for: a connection
 * that has answered may serve another question by then.
 */
import type { Sql } from './connection.ts';

const signals = new WeakMap<object, AbortSignal>();

/** The same client, until the signal. */
export function cancelledBy(sql: Sql, signal: AbortSignal): Sql {
  const client = new Proxy(sql, {});
  signals.set(client, signal);
  return client;
}

/** The rows of a query that this client has made. */
export async function rowsOf<Rows>(
  client: object,
  query: PromiseLike<Rows> & { cancel(): void },
): Promise<Rows> {
  const signal = signals.get(client);
  if (signal === undefined) return query;
  signal.throwIfAborted();
  const cancel = () => query.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await query;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

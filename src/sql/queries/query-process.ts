/**
 * The process that answers queries of strangers, one at a time. It is a process because a thread cannot be ended in the
 * middle of a function of DuckDB, and because what DuckDB may do wrong must not end the service. It holds no secret but the
 * address of the store, listens to nobody but the service, and ends when the service does or when it needs too much memory.
 */
import { sumiError } from '../../errors.ts';
import { packError } from '../../primitives/travelling-error.ts';
import { siteFeeds } from '../attached/site-feeds.ts';
import { startDuckThread } from '../thread/thread-client.ts';
import type { FromQueryProcess, QueryResult, QueryTask } from './query-messages.ts';

/** What DuckDB takes beside its own limit (strings of a function) is seen here only. */
const MOST_GROWTH_BYTES = 1024 * 1024 * 1024;
const LOOK_MS = 50;

const say = (message: FromQueryProcess, then: () => void = () => {}) => process.send?.(message, then);
const endNow = () => process.kill(process.pid, 'SIGKILL');

const thread = startDuckThread({ makers: siteFeeds(), onProgress: () => {} });
let statement = 0;

async function answer(task: QueryTask): Promise<void> {
  const before = process.memoryUsage.rss();
  const look = setInterval(() => {
    if (process.memoryUsage.rss() - before < MOST_GROWTH_BYTES) return;
    clearInterval(look);
    say({ kind: 'error', error: packError(sumiError('query-memory', { limit: '1GB' })) }, endNow);
  }, LOOK_MS);
  try {
    await thread.askForPieces<QueryResult, void>(
      'answerQuery',
      { ...task, statement: ++statement },
      (answer) => void say({ kind: 'answer', answer }),
    );
    say({ kind: 'ready' });
  } catch (error) {
    say({ kind: 'error', error: packError(error) });
    say({ kind: 'ready' });
  } finally {
    clearInterval(look);
  }
}

process.on('message', (task: QueryTask) => void answer(task));
process.on('disconnect', endNow);
// The service says when it ends: a signal for the whole group is not for this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
say({ kind: 'ready' });

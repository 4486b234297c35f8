// A thread that plays the main thread of the SQL door, for tests that have DuckDB in their own.
import { type MessagePort, workerData } from 'node:worker_threads';
import { siteFeeds } from '../../src/sql/attached/site-feeds.ts';
import { serveFeeds } from '../../src/sql/feeds/serve-feeds.ts';

const { port, signal } = workerData as { port: MessagePort; signal: SharedArrayBuffer };
serveFeeds(port, new Int32Array(signal), siteFeeds());

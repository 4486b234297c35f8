/**
 * The SQLite driver of the running Node, and the only place that loads it: better-sqlite3 13 on Node 22 and newer, 12 on
 * Node 20. npm installs the one that fits, by the `engines` of both. What was installed by another Node is refused here,
 * before it is loaded: 13 ends a process of Node 20 with a segmentation fault, 12 aborts on Node 24.19 and newer.
 * docs/decisions/0035-sqlite-driver-by-node.md.
 */
import { createRequire } from 'node:module';
import type Driver from 'better-sqlite3';
import { sumiError } from '../../errors.ts';

const require = createRequire(import.meta.url);
const isNode20 = Number.parseInt(process.versions.node, 10) < 22;

refuseUnfit();
const Sqlite = require('better-sqlite3') as typeof Driver;
export default Sqlite;

/** 12 looks for its native module in a dozen places; npm puts it into this one. 13 knows where its own is. */
export const nativeBinding = isNode20 ? findNative() : undefined;

function refuseUnfit(): void {
  const version = installedVersion();
  const isThirteen = Number.parseInt(version, 10) >= 13;
  if (isThirteen !== isNode20) return;
  const expected = isNode20 ? 'version 12' : 'version 13 or newer';
  throw sumiError('driver-unfit', { node: process.versions.node, version, expected });
}

function installedVersion(): string {
  try {
    return (require('better-sqlite3/package.json') as { version: string }).version;
  } catch (error) {
    throw sumiError('driver-missing', { node: process.versions.node }, error);
  }
}

function findNative(): string {
  try {
    return require.resolve('better-sqlite3/build/Release/better_sqlite3.node');
  } catch (error) {
    throw sumiError('driver-missing', { node: process.versions.node }, error);
  }
}

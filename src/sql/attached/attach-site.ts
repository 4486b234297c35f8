/**
 * `ATTACH 'sumi.db' AS site (TYPE sumi)`: a catalog of views over a store, read-only. DuckDB makes no catalog in memory
 * read-only, so the views stand in a small file of this session's own, which is attached READ_ONLY. The store is checked
 * before anything is attached, and is not changed.
 *
 * DuckDB does not say when a catalog is detached or a scan is left early: `settleSites` looks, after a statement.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { SumiError } from '../../errors.ts';
import type { MainThread } from '../thread/feed.ts';
import { registerSiteFunction, type SiteFunctionParts } from './site-function.ts';
import { openSource, type SiteAddress, type SiteScan, type SiteSource } from './site-source.ts';
import { siteViews } from './site-tables.ts';

interface Attached {
  source: SiteSource;
  /** The file of views, in a folder of its own. Both are removed at once, where a file that is open can be. */
  file: string;
}

/** What is attached to the session of a DuckDB thread. */
interface Sites extends SiteFunctionParts {
  readonly attached: Map<number, Attached>;
  /** Scans that have not come to their end, and the connection of each. */
  readonly scans: Map<SiteScan, number>;
  last: number;
}

const sitesOf = new WeakMap<MainThread, Sites>();

function plainText(error: unknown): string {
  return error instanceof SumiError ? `${error.message} ${error.hint}` : String(error);
}

/** Once a session. `textOf`: what DuckDB is told of an error that a scan throws. */
export function registerSiteFunctions(
  connection: DuckDBConnection,
  main: MainThread,
  textOf: (error: unknown) => string = plainText,
): void {
  const attached = new Map<number, Attached>();
  const scans = new Map<SiteScan, number>();
  const sites: Sites = {
    attached,
    scans,
    last: 0,
    sourceOf: (site) => attached.get(site)?.source,
    onScan: (scan, connectionId) => scans.set(scan, connectionId),
    onEnd: (scan) => scans.delete(scan),
    textOf,
  };
  sitesOf.set(main, sites);
  registerSiteFunction(connection, sites);
}

export interface AttachRequest extends SiteAddress {
  main: MainThread;
  name: string;
  /** When there is a database of that name. */
  whenThere?: 'error' | 'keep' | 'replace';
}

export async function attachSite(
  connection: DuckDBConnection,
  { main, name, whenThere = 'error', ...address }: AttachRequest,
): Promise<void> {
  const sites = sitesOf.get(main)!;
  await settleSites(connection, main);
  if (whenThere === 'keep' && (await isThere(connection, name))) return;
  const source = await openSource(address, main, await filesOf(connection));
  const site = ++sites.last;
  const file = join(mkdtempSync(join(tmpdir(), 'sumi-site-')), 'site.duckdb');
  sites.attached.set(site, { source, file });
  try {
    await writeViews(file, site, sites);
    const attach = whenThere === 'replace' ? 'ATTACH OR REPLACE' : 'ATTACH';
    await connection.run(`${attach} ${quoted(file, "'")} AS ${quoted(name, '"')} (READ_ONLY)`);
  } catch (error) {
    letGo(sites, site);
    throw error;
  }
  removeFile(file);
}

/**
 * Lets go of stores that were detached, and ends the scans that statements of this connection have left early. Call it when
 * none of them is under way.
 */
export async function settleSites(connection: DuckDBConnection, main: MainThread): Promise<void> {
  const sites = sitesOf.get(main);
  if (sites === undefined || sites.attached.size === 0) return;
  for (const [scan, owner] of [...sites.scans])
    if (owner === connection.clientContext.connectionId) endScan(sites, scan);
  // A transaction that has failed answers nothing until it is ended.
  const files = await filesOf(connection).catch(() => null);
  if (files === null) return;
  const open = new Set(files.map(folderOf));
  for (const [site, { file }] of [...sites.attached]) if (!open.has(folderOf(file))) letGo(sites, site);
}

/** At the end of the session, when DuckDB is closed. */
export function closeSites(main: MainThread): void {
  const sites = sitesOf.get(main);
  if (sites === undefined) return;
  for (const scan of [...sites.scans.keys()]) endScan(sites, scan);
  for (const site of [...sites.attached.keys()]) letGo(sites, site);
}

/** The name of the folder, which is unique: DuckDB may write the way to it differently. */
const folderOf = (file: string) => file.split(/[\\/]/).at(-2);

function endScan({ scans }: Sites, scan: SiteScan): void {
  scans.delete(scan);
  scan.close();
}

function letGo({ attached }: Sites, site: number): void {
  const { source, file } = attached.get(site)!;
  attached.delete(site);
  source.close();
  removeFile(file);
}

function removeFile(file: string): void {
  try {
    rmSync(dirname(file), { recursive: true, force: true });
  } catch {
    // Windows keeps a file that is open: it is removed when it has been detached.
  }
}

async function filesOf(connection: DuckDBConnection): Promise<string[]> {
  const found = await connection.runAndReadAll('SELECT path FROM duckdb_databases() WHERE path IS NOT NULL');
  return found.getRows().map(([path]) => String(path));
}

async function isThere(connection: DuckDBConnection, name: string): Promise<boolean> {
  const found = await connection.runAndReadAll(
    'SELECT 1 FROM duckdb_databases() WHERE lower(database_name) = lower($1)',
    [name],
  );
  return found.currentRowCount > 0;
}

/** By an instance of its own: the user's connection may be in a transaction, which writes to one catalog only. */
async function writeViews(file: string, site: number, parts: SiteFunctionParts): Promise<void> {
  const instance = await DuckDBInstance.create(file, { threads: '1' });
  try {
    const connection = await instance.connect();
    registerSiteFunction(connection, parts);
    for (const [name, sql] of Object.entries(siteViews(site)))
      await connection.run(`CREATE VIEW ${name} AS ${sql}`);
    connection.closeSync();
  } finally {
    instance.closeSync();
  }
}

const quoted = (text: string, mark: '"' | "'") => mark + text.replaceAll(mark, mark + mark) + mark;

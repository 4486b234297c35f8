/**
 * Copies one project from a store to another: every table batch by batch, then both sides are read again as they are
 * stored and compared, and only then the copy gets its name. Goes on where an interrupted copy of the same, unchanged
 * source stopped. Never changes the source, nor any other project of the target; bodies are not touched.
 */
import { sumiError } from '../errors.ts';
import {
  COPY_ORDER,
  COPY_TABLES,
  type CopyReader,
  type CopyRow,
  type CopySide,
  type CopyTable,
  type CopyWriter,
  isShared,
  nameWhileCopied,
  type SharedTable,
} from './copy-port.ts';
import { RowSum } from './row-sum.ts';

export interface CopyOrder {
  from: CopySide;
  to: CopySide;
  project: { id: number; name: string };
  /** The name in the target. */
  name: string;
  restart: boolean;
  onEvent: (event: CopyEvent) => void;
}

export type CopyEvent =
  | { type: 'begun'; project: string; pages: number; resumedAt: CopyTable | null }
  | { type: 'wrote'; table: CopyTable; rows: number; isDone: boolean }
  | { type: 'written'; rows: number }
  | { type: 'compared'; table: CopyTable };

/** Both sides of a table after the copy. */
export interface ComparedTable {
  table: CopyTable;
  rows: number;
  rowsCopied: number;
  checksum: string;
  checksumCopied: string;
  /** Of a shared table: rows that the target has in an older form. */
  older: number;
  isEqual: boolean;
}

export interface CopyResult {
  project: string;
  name: string;
  /** Rows that this call wrote. */
  written: number;
  tables: ComparedTable[];
}

/** Null when an earlier copy has brought the project as it is now. */
export async function copyProject(order: CopyOrder): Promise<CopyResult | null> {
  const { from, to, project, name, restart, onEvent } = order;
  await from.refuseBusy(project.id);
  const reader = await from.read(project.id);
  try {
    const source = await from.identity();
    const writer = await to.write({ name, source, sourceProject: project.name, reader, restart });
    if (writer === null) return null;
    onEvent({
      type: 'begun',
      project: project.name,
      pages: reader.pages,
      resumedAt: writer.resumed?.table ?? null,
    });
    const written = await writeTables(reader, writer, onEvent);
    onEvent({ type: 'written', rows: written });
    const tables = await compare(reader, writer, to, onEvent);
    const wrong = tables.filter(({ isEqual }) => !isEqual);
    if (wrong.length > 0) {
      throw sumiError('copy-differs', {
        project: project.name,
        copied: nameWhileCopied(name),
        tables: wrong.map(describeDifference).join('; '),
      });
    }
    await writer.finish();
    return { project: project.name, name, written, tables };
  } finally {
    await reader.end();
  }
}

async function writeTables(
  reader: CopyReader,
  writer: CopyWriter,
  onEvent: CopyOrder['onEvent'],
): Promise<number> {
  const { resumed } = writer;
  const first = resumed === null ? 0 : COPY_ORDER.indexOf(resumed.table);
  let written = 0;
  for (const table of COPY_ORDER.slice(first)) {
    let rows = 0;
    const after = resumed?.table === table ? resumed.after : 0;
    // The next batch is read while this one is written.
    let writing: Promise<void> = Promise.resolve();
    try {
      for await (const batch of reader.batches(table, after)) {
        await writing;
        // An empty window is read again by whoever goes on: cheaper than a commit.
        if (batch.rows.length === 0) continue;
        writing = writer.write(table, batch);
        // Awaited above or below; until then a failure is nobody's surprise.
        writing.catch(() => {});
        rows += batch.rows.length;
        onEvent({ type: 'wrote', table, rows, isDone: false });
      }
    } finally {
      await writing;
    }
    written += rows;
    onEvent({ type: 'wrote', table, rows, isDone: true });
  }
  return written;
}

async function compare(
  reader: CopyReader,
  writer: CopyWriter,
  to: CopySide,
  onEvent: CopyOrder['onEvent'],
): Promise<ComparedTable[]> {
  // Pages and runs are numbered anew from the rows that are there: what went missing shifts all that follows.
  const copied = await to.read(writer.projectId);
  try {
    const tables: ComparedTable[] = [];
    for (const table of COPY_ORDER) {
      tables.push(
        isShared(table)
          ? await compareShared(table, reader, writer)
          : await compareOwn(table, reader, copied),
      );
      onEvent({ type: 'compared', table });
    }
    return tables;
  } finally {
    await copied.end();
  }
}

async function compareOwn(table: CopyTable, reader: CopyReader, copied: CopyReader): Promise<ComparedTable> {
  const [source, target] = await Promise.all([sumOf(table, reader), sumOf(table, copied)]);
  return comparison(table, source, target, 0);
}

async function sumOf(table: CopyTable, reader: CopyReader): Promise<RowSum> {
  const sum = new RowSum();
  for await (const { rows } of reader.batches(table, 0)) for (const row of rows) sum.add(row);
  return sum;
}

/** Hosts and robots.txt may be known there already: keys must be equal, times no earlier unless crawls there keep them. */
async function compareShared(
  table: SharedTable,
  reader: CopyReader,
  writer: CopyWriter,
): Promise<ComparedTable> {
  const source = new RowSum();
  const target = new RowSum();
  let older = 0;
  for await (const { rows } of reader.batches(table, 0)) {
    const found = await writer.find(
      table,
      rows.map(([key]) => key as string),
    );
    const byKey = new Map(found.map(({ row, isInUse }) => [row[0], isInUse ? undefined : row]));
    for (const row of rows) source.add(keyOf(table, row));
    for (const { row } of found) target.add(keyOf(table, row));
    for (const row of rows) {
      const there = byKey.get(row[0]);
      if (there !== undefined && isOlder(table, there, row)) older++;
    }
  }
  return comparison(table, source, target, older);
}

const TIMES: Record<SharedTable, readonly string[]> = {
  host: ['not_before', 'blocked_until'],
  robots_txt: ['fetched_at'],
};
const KEYS: Record<SharedTable, readonly string[]> = { host: ['name'], robots_txt: ['origin', 'host_id'] };

function valuesOf(table: SharedTable, row: CopyRow, names: readonly string[]): CopyRow {
  const columns = Object.keys(COPY_TABLES[table]);
  return names.map((name) => row[columns.indexOf(name)]);
}

function keyOf(table: SharedTable, row: CopyRow): CopyRow {
  return valuesOf(table, row, KEYS[table]);
}

function isOlder(table: SharedTable, there: CopyRow, here: CopyRow): boolean {
  const times = valuesOf(table, here, TIMES[table]) as number[];
  return (valuesOf(table, there, TIMES[table]) as number[]).some((time, i) => time < times[i]);
}

function comparison(table: CopyTable, source: RowSum, target: RowSum, older: number): ComparedTable {
  return {
    table,
    rows: source.rows,
    rowsCopied: target.rows,
    checksum: source.checksum,
    checksumCopied: target.checksum,
    older,
    isEqual: source.rows === target.rows && source.checksum === target.checksum && older === 0,
  };
}

function describeDifference({ table, rows, rowsCopied, older }: ComparedTable): string {
  if (rows !== rowsCopied) return `${table} has ${rowsCopied} rows instead of ${rows}`;
  return older > 0 ? `${table} has ${older} older rows` : `${table} has another checksum`;
}

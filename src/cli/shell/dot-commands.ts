/**
 * The commands of the shell that are not SQL. They begin with a dot and take one line. They only ask the session
 * questions and change how results are shown.
 */
import { readFileSync } from 'node:fs';
import { nearestName, similarName } from '../../config/nearest-name.ts';
import { sumiError } from '../../errors.ts';
import { RESULT_FORMATS, type ResultFormat } from '../../sql/output/result-format.ts';
import type { SqlSession } from '../../sql/sql-session.ts';

/** How the shell shows results; dot commands change it. */
export interface ShellState {
  format: ResultFormat;
  isTimed: boolean;
}

export interface DotSurroundings {
  session: SqlSession;
  state: ShellState;
  print: (text: string) => Promise<void>;
  /** Of the terminal. */
  width: () => number;
  /** Runs a script as if it had been typed; `source` is named in errors. */
  runScript: (script: string, source: string | null) => Promise<void>;
  leave: () => void;
}

interface DotCommand {
  name: string;
  takes: string;
  about: string;
  /** Not shown in help: another name of the command above. */
  isHidden?: boolean;
  run(words: readonly string[], surroundings: DotSurroundings): void | Promise<void>;
}

/** Where a table is not reached by its name alone, its schema and database stand before it. */
const TABLES = `SELECT CASE
    WHEN database_name IN (current_database(), 'temp') AND schema_name IN (current_schema(), 'main') THEN name
    WHEN database_name = current_database() THEN schema_name || '.' || name
    WHEN schema_name = 'main' THEN database_name || '.' || name
    ELSE database_name || '.' || schema_name || '.' || name END AS name, kind, columns, rows
  FROM (
    SELECT database_name, schema_name, table_name AS name, 'table' AS kind, column_count AS columns,
      estimated_size AS rows FROM duckdb_tables() WHERE NOT internal
    UNION ALL
    SELECT database_name, schema_name, view_name, 'view', column_count, NULL FROM duckdb_views() WHERE NOT internal)
  ORDER BY name`;
const SCHEMAS = `SELECT database_name, schema_name, name, sql FROM (
  SELECT database_name, schema_name, table_name AS name, sql, 1 AS place FROM duckdb_tables() WHERE NOT internal
  UNION ALL SELECT database_name, schema_name, view_name, sql, 2 FROM duckdb_views() WHERE NOT internal
  UNION ALL SELECT database_name, schema_name, table_name, sql, 3 FROM duckdb_indexes())
  WHERE sql IS NOT NULL ORDER BY place, database_name, schema_name, name`;

export const DOT_COMMANDS: readonly DotCommand[] = [
  { name: '.help', takes: '', about: 'show this list', run: (_, { print }) => print(helpText()) },
  {
    name: '.tables',
    takes: '',
    about: 'list tables and views; rows of a table are an estimate',
    run: (_, { session, print, width }) =>
      session.run(TABLES, { format: 'table', width: width(), output: { write: print } }),
  },
  {
    name: '.schema',
    takes: '[NAME]',
    about: 'print the statements that make the tables, or one of them',
    run: ([name], surroundings) => printSchema(name, surroundings),
  },
  {
    name: '.timer',
    takes: 'on|off',
    about: 'print how long each statement took',
    run([word], { state }) {
      if (word !== 'on' && word !== 'off') throw expected('.timer', word, 'on or off');
      state.isTimed = word === 'on';
    },
  },
  {
    name: '.mode',
    takes: 'FORMAT',
    about: `how to print results: ${RESULT_FORMATS.join(', ')}`,
    run: setFormat,
  },
  { name: '.format', takes: 'FORMAT', about: 'the same as .mode', isHidden: true, run: setFormat },
  {
    name: '.read',
    takes: 'FILE',
    about: 'run the statements of a file',
    run: (words, { runScript }) => {
      const file = words.join(' ');
      if (file === '') throw expected('.read', undefined, 'a file');
      return runScript(readScript(file), file);
    },
  },
  { name: '.exit', takes: '', about: 'leave; Ctrl-D does the same', run: (_, { leave }) => leave() },
  { name: '.quit', takes: '', about: 'leave', isHidden: true, run: (_, { leave }) => leave() },
];

const NAMES = DOT_COMMANDS.map(({ name }) => name);

/** One line that begins with a dot. */
export async function runDotCommand(line: string, surroundings: DotSurroundings): Promise<void> {
  const [name, ...words] = splitWords(line.trim().replace(/;\s*$/, ''));
  const command = DOT_COMMANDS.find((known) => known.name === name.toLowerCase());
  if (command === undefined) {
    const nearest = similarName(name, NAMES) ?? '.help';
    throw sumiError('sql-shell-command', {
      problem: `There is no command ${name} in this shell`,
      advice: `Try ${nearest}; .help lists all commands.`,
    });
  }
  await command.run(words, surroundings);
}

/** A script of SQL from a file, without the mark that some editors put before UTF-8. */
export function readScript(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw sumiError('sql-file-unreadable', { file, reason: (error as Error).message }, error);
  }
}

function setFormat([word]: readonly string[], { state }: DotSurroundings): void {
  const format = RESULT_FORMATS.find((known) => known === word?.toLowerCase());
  if (format === undefined) throw expected('.mode', word, `one of ${RESULT_FORMATS.join(', ')}`);
  state.format = format;
}

function expected(command: string, given: string | undefined, what: string): Error {
  return sumiError('sql-shell-command', {
    problem:
      given === undefined ? `${command} needs ${what}` : `${command} cannot be ${given}; expected ${what}`,
    advice: 'Type it again; .help lists all commands.',
  });
}

/** Words may be in quotes, for names and files with spaces. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/"((?:[^"]|"")*)"|'((?:[^']|'')*)'|\S+/g)].map(
    ([whole, double, single]) => double?.replaceAll('""', '"') ?? single?.replaceAll("''", "'") ?? whole,
  );
}

function helpText(): string {
  const shown = DOT_COMMANDS.filter(({ isHidden }) => !isHidden);
  const usages = shown.map(({ name, takes }) => `${name} ${takes}`.trimEnd());
  const width = Math.max(...usages.map((usage) => usage.length));
  const lines = shown.map(({ about }, i) => `  ${usages[i].padEnd(width)}  ${about}`);
  const keys = [
    'A statement ends with a semicolon; it may have many lines. All else is SQL of DuckDB, and:',
    '  CRAWL (SELECT …) INTO table;  EXPLAIN CRAWL …;  SHOW CRAWLS;  STOP CRAWL [INTO table];',
    'Ctrl-C stops the statement under way, Tab completes, the arrow keys bring back what was typed.',
  ];
  return `${[...lines, ...keys].join('\n')}\n`;
}

interface SchemaRow {
  database_name: string;
  schema_name: string;
  name: string;
  sql: string;
}

/** The rows of a statement as objects. */
export async function askRows<Row>(session: SqlSession, sql: string): Promise<Row[]> {
  let text = '';
  const write = (piece: string) => {
    text += piece;
  };
  await session.run(sql, { format: 'jsonl', output: { write } });
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Row);
}

async function printSchema(name: string | undefined, { session, print }: DotSurroundings): Promise<void> {
  const rows = await askRows<SchemaRow>(session, SCHEMAS);
  const wanted = name?.toLowerCase();
  const found = rows.filter(({ database_name, schema_name, name: own }) => {
    const names = [
      own,
      `${schema_name}.${own}`,
      `${database_name}.${own}`,
      `${database_name}.${schema_name}.${own}`,
    ];
    return wanted === undefined || names.some((known) => known.toLowerCase() === wanted);
  });
  if (found.length === 0 && name !== undefined) {
    const nearest = nearestName(name, [...new Set(rows.map((row) => row.name))]);
    throw sumiError('sql-shell-command', {
      problem: `There is no table or view ${name}`,
      advice: nearest === '' ? 'There are no tables yet.' : `Try .schema ${nearest}; .tables lists all.`,
    });
  }
  for (const { sql } of found) await print(`${sql.replace(/;?\s*$/, '')};\n`);
}

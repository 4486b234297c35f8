/**
 * Reading never migrates: a file of an older version is shown as if it had what this one has, empty, by tables and views
 * of this connection's own that stand before the file's.
 */
import type { Database } from 'better-sqlite3';
import { missingColumns } from '../fact-columns.ts';
import {
  CHANGE_COLUMNS,
  CHANGE_TABLES,
  IDENTITY_COLUMNS,
  INDEX_TABLES,
  NEW_NAMES,
  ORPHAN_TABLE,
  READER_TABLE,
} from './schema.ts';

const WITH_METADATA = 2;
const WITH_HISTORY = 4;
const WITH_ORPHANS = 5;
const WITH_TROUBLE = 6;
const WITH_WORDS = 7;
const WITH_LOOKS = 10;
const WITH_LEFT_OUT = 11;
const WITH_INDEXES = 12;
const WITH_IDENTITY = 14;
const LEFT_OUT = '0 AS left_out';
const KNOWN = 'NULL AS known_state, NULL AS known_reason, NULL AS left_run, NULL AS left_reason';
const WORDS = 'NULL AS lastmod_text, NULL AS details';

export function showAsCurrent(db: Database): void {
  const version = db.pragma('user_version', { simple: true }) as number;
  const make = (tables: string) => db.exec(tables.replaceAll('CREATE TABLE', 'CREATE TEMP TABLE'));
  if (version < WITH_ORPHANS) make(ORPHAN_TABLE);
  if (version < WITH_INDEXES) make(INDEX_TABLES);
  if (version < WITH_LEFT_OUT) {
    db.exec(`CREATE TEMP VIEW url AS SELECT t.*, ${KNOWN} FROM main.url t`);
    if (version >= WITH_HISTORY) db.exec(`CREATE TEMP VIEW run AS SELECT t.*, ${LEFT_OUT} FROM main.run t`);
    make(READER_TABLE);
    // Who reads a name opens the project by it, and that may bring the file to this version.
    db.exec(NEW_NAMES);
    if (version >= WITH_HISTORY)
      db.exec(
        `CREATE TEMP VIEW project AS SELECT ${projectColumns(db)}, ${IDENTITY_COLUMNS} FROM main.project t`,
      );
  } else if (version < WITH_IDENTITY)
    db.exec(`CREATE TEMP VIEW project AS SELECT t.*, ${IDENTITY_COLUMNS} FROM main.project t`);
  if (version >= WITH_HISTORY && version < WITH_WORDS)
    db.exec(`CREATE TEMP VIEW sitemap_entry AS SELECT t.*, ${WORDS} FROM main.sitemap_entry t`);
  const facts = missingColumns(version);
  if (version >= WITH_HISTORY && facts.length > 0)
    db.exec(`CREATE TEMP VIEW fetched AS SELECT t.*, ${facts.join(', ')} FROM main.fetched t`);
  if (version >= WITH_HISTORY) {
    const missing = ['guessed'];
    if (version < WITH_LOOKS) missing.push('looks', 'searched');
    if (version < WITH_TROUBLE) missing.push('trouble');
    const columns = missing.map((column) => `NULL AS ${column}`).join(', ');
    if (version < WITH_LEFT_OUT)
      db.exec(`CREATE TEMP VIEW discovery AS SELECT t.*, ${columns} FROM main.discovery t`);
    return;
  }
  make(CHANGE_TABLES);
  for (const column of ['trouble', 'looks', 'searched', 'guessed'])
    db.exec(`ALTER TABLE temp.discovery ADD COLUMN ${column} TEXT`);
  for (const column of ['lastmod_text', 'details'])
    db.exec(`ALTER TABLE temp.sitemap_entry ADD COLUMN ${column} TEXT`);
  for (const [table, columns] of Object.entries(CHANGE_COLUMNS)) {
    const added = Object.entries(columns).map(([name, value]) => `${value} AS ${name}`);
    if (table === 'fetched') added.push(...facts);
    if (table === 'run') added.push(LEFT_OUT);
    if (table === 'run' && version < WITH_METADATA) added.push('NULL AS metadata');
    if (table === 'project') added.push(IDENTITY_COLUMNS);
    const own = table === 'project' ? projectColumns(db) : 't.*';
    db.exec(`CREATE TEMP VIEW ${table} AS SELECT ${own}, ${added.join(', ')} FROM main.${table} t`);
  }
}

/** Of a row `t` of project, with the name that the project will have in this version. */
function projectColumns(db: Database): string {
  const name = 'COALESCE((SELECT n.name FROM temp.new_name n WHERE n.id = t.id), t.name) AS name';
  const columns = db
    .prepare("SELECT name FROM pragma_table_info('project', 'main')")
    .pluck()
    .all() as string[];
  return columns.map((column) => (column === 'name' ? name : `t.${column}`)).join(', ');
}

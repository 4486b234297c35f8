import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openForReading, openForWriting } from './open-database.ts';
import { openInShutFolder } from './tidy-reading.ts';

let folder: string;
let path: string;
const files = () => readdirSync(folder).sort();
const projects = (db: ReturnType<typeof openForReading>) =>
  db.prepare('SELECT name FROM project').pluck().all();
const add = (db: ReturnType<typeof openForReading>, name: string) =>
  db.exec(`INSERT INTO project (name, created_at) VALUES ('${name}', 1); COMMIT; BEGIN IMMEDIATE`);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-tidy-'));
  path = join(folder, 'x.db');
  const writer = openForWriting(path);
  add(writer, 'p');
  writer.close();
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('reading', () => {
  it('leaves no file beside the database, and the database as it was', () => {
    const before = [readFileSync(path).toString('hex'), statSync(path).mtimeMs];
    const reader = openForReading(path);
    expect(projects(reader)).toEqual(['p']);
    reader.close();
    expect(files()).toEqual(['x.db']);
    expect([readFileSync(path).toString('hex'), statSync(path).mtimeMs]).toEqual(before);
  });

  it('leaves none when two read at once, whoever ends first', () => {
    const [one, other] = [openForReading(path), openForReading(path)];
    projects(one);
    projects(other);
    one.close();
    expect(projects(other)).toEqual(['p']);
    other.close();
    expect(files()).toEqual(['x.db']);
  });

  it('leaves those of a crawl under way, and takes nothing from it', () => {
    const writer = openForWriting(path);
    const reader = openForReading(path);
    projects(reader);
    reader.close();
    expect(files()).toEqual(['x.db', 'x.db-shm', 'x.db-wal']);
    add(writer, 'q');
    const later = openForReading(path);
    expect(projects(later)).toEqual(['p', 'q']);
    later.close();
    writer.close();
    expect(files()).toEqual(['x.db']);
  });

  it('reads the log that a killed crawl left, and leaves it to the next one', () => {
    const writer = openForWriting(path);
    add(writer, 'q');
    const killed = join(folder, 'killed.db');
    for (const end of ['', '-wal']) copyFileSync(path + end, killed + end);
    writer.close();
    for (let times = 0; times < 2; times++) {
      const reader = openForReading(killed);
      expect(projects(reader)).toEqual(['p', 'q']);
      reader.close();
      expect(statSync(`${killed}-wal`).size).toBeGreaterThan(0);
    }
    const next = openForWriting(killed);
    expect(projects(next)).toEqual(['p', 'q']);
    next.close();
    expect(files()).toEqual(['killed.db', 'x.db']);
  });

  it('takes no lock from a crawl of this process, nor lets others take its log away', () => {
    const writer = openForWriting(path);
    openForReading(path).close();
    // Any SQLite tool that believes to be the last one removes the log when it leaves.
    const ask = () => spawnSync('sqlite3', [path, 'SELECT name FROM project'], { encoding: 'utf8' });
    expect(ask()).toMatchObject({ stdout: 'p\n', stderr: '' });
    add(writer, 'q');
    expect(files()).toEqual(['x.db', 'x.db-shm', 'x.db-wal']);
    expect(ask()).toMatchObject({ stdout: 'p\nq\n', stderr: '' });
    writer.close();
    expect(projects(openForReading(path))).toEqual(['p', 'q']);
  });

  it('by way of a link tidies up where the file is', () => {
    const elsewhere = join(folder, 'links');
    mkdirSync(elsewhere);
    symlinkSync(path, join(elsewhere, 'link.db'));
    const reader = openForReading(join(elsewhere, 'link.db'));
    expect(projects(reader)).toEqual(['p']);
    reader.close();
    expect([files(), readdirSync(elsewhere)]).toEqual([['links', 'x.db'], ['link.db']]);
  });

  it.each([
    ['', 'get()', ['x.db']],
    [' while rows are being read', 'iterate().next()', ['x.db', 'x.db-shm', 'x.db-wal']],
  ])('lets the process end without a close%s', (_, read, left) => {
    const script = `const { openForReading } = await import(${JSON.stringify(new URL('./open-database.ts', import.meta.url).href)});
      openForReading(${JSON.stringify(path)}).prepare('SELECT name FROM project').${read};
      process.exit(0);`;
    const args = ['--import', 'tsx', '--input-type=module', '-e', script];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    expect(files()).toEqual(left);
    openForReading(path).close();
    expect(files()).toEqual(['x.db']);
  });

  it('leaves none beside a file that this user may only read, in a folder where he may write', ({ skip }) => {
    // Who is root may write everything: another user reads then, if this source is not kept from him.
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const source = fileURLToPath(import.meta.url);
    const isKept = spawnSync('test', ['-r', source], user).status !== 0;
    if (isKept) skip(`user ${user.uid} may not read ${source}`);
    chmodSync(folder, 0o777);
    chmodSync(path, 0o444);
    const script = `const { openForReading } = await import(${JSON.stringify(new URL('./open-database.ts', import.meta.url).href)});
      const reader = openForReading(${JSON.stringify(path)});
      console.log(reader.prepare('SELECT count(*) FROM project').pluck().get());
      reader.close();`;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', script],
      { encoding: 'utf8', ...user },
    );
    expect([status, stdout, stderr]).toEqual([0, '1\n', '']);
    expect(files()).toEqual(['x.db']);
  });

  it('of a folder in which nothing can be made is done from a copy, its log with it, which is removed', () => {
    const writer = openForWriting(path);
    add(writer, 'q');
    let copied = '';
    const reader = openInShutFolder(path, (copy) => {
      copied = copy;
      return new Sqlite(copy, { readonly: true });
    });
    expect(projects(reader)).toEqual(['p', 'q']);
    reader.close();
    expect(() => statSync(copied)).toThrow(/ENOENT/);
    writer.close();
  });
});

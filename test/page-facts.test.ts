/** What is derived from the table of page facts: columns, views, the copy between stores, `past`, rows, changes. */
import { createHash } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { comparePages } from '../src/change/compare-pages.ts';
import { type Facets, facetHash } from '../src/change/fingerprint.ts';
import { CHANGE_PARTS, type ChangePart, type ComparedPage } from '../src/change/visit-record.ts';
import type { Claim, LastVisit } from '../src/frontier/candidate.ts';
import { PAGE_STATES } from '../src/frontier/page-state.ts';
import { createPageParser } from '../src/parse/parse-page.ts';
import { systemClock } from '../src/primitives/clock.ts';
import { COPY_TABLES } from '../src/store/copy-port.ts';
import { ADDS_FACTS, withFactColumns } from '../src/store/fact-columns.ts';
import { openReadSide, openStore } from '../src/store/open-store.ts';
import {
  COMPARED,
  comparedFacts,
  FACT_KINDS,
  FACTS,
  type FactKind,
  type FactName,
  type FactView,
  NO_FACTS,
  PAGE_FACTS,
  PARSED_FACTS,
  type PageFact,
  type PageFacts,
  type PageTouch,
  type ParsedFacts,
} from '../src/store/page-facts.ts';
import * as postgres from '../src/store/postgres/schema.ts';
import { VIEWS as POSTGRES_VIEWS } from '../src/store/postgres/views.ts';
import type { Settlement } from '../src/store/settlement.ts';
import { showAsCurrent } from '../src/store/sqlite/read-older.ts';
import * as sqlite from '../src/store/sqlite/schema.ts';
import { VIEWS as SQLITE_VIEWS } from '../src/store/sqlite/views.ts';
import type { RunStore } from '../src/store/store-port.ts';
import { copy, KINDS, useStores } from './contracts/copy-bench.ts';
import { askStore } from './contracts/project-facts.ts';
import { candidate, HOST, processed, url, visited } from './contracts/store/harness.ts';
import { useBench } from './crawls/crawl-site.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

const bench = useBench();
const newStore = useStores(bench);

const markOf = (views: string) =>
  createHash('sha256').update(views.replace(/\s+/g, ' ')).digest('hex').slice(0, 8);

// Stored databases keep the views they have until a new version: add an entry to MIGRATIONS, or a fact with `since`, then
// the new pair here.
it.each([
  ['SQLite', sqlite.SCHEMA_VERSION, SQLITE_VIEWS, [14, 'e01bc3e8']],
  ['PostgreSQL', postgres.SCHEMA_VERSION, POSTGRES_VIEWS, [12, '4651baa2']],
])('the views of %s change only with a version', (_, version, views, pair) => {
  expect([version, markOf(views)]).toEqual(pair);
});

interface Column {
  name: string;
  type: string;
}

describe('the columns of a new database', () => {
  it('are those of the table, with its types, in both stores', async () => {
    const [file, database] = [await newStore('SQLite'), await newStore('PostgreSQL')];
    for (const address of [file, database]) await (await open(address)).close();
    const isFact = ({ name }: Column) => FACTS.some(({ column }) => column === name);
    const sorted = (columns: unknown[]) =>
      (columns as Column[]).filter(isFact).sort((a, b) => (a.name < b.name ? -1 : 1));
    const expected = (store: 'sqlite' | 'postgres') =>
      sorted(FACTS.map(({ column, kind }) => ({ name: column, type: FACT_KINDS[kind][store] })));
    const inFile = await askStore(file, (ask) => ask("SELECT name, type FROM pragma_table_info('fetched')"));
    expect(sorted(inFile)).toEqual(expected('sqlite'));
    const inDatabase = await askStore(database, (ask) =>
      ask(`SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
        WHERE attrelid = 'fetched'::regclass AND attnum > 0 AND NOT attisdropped`),
    );
    expect(sorted(inDatabase)).toEqual(expected('postgres'));
  });

  it.each(sqlite.MIGRATIONS.map((_, i) => i + 1))(
    'are all there when a file is read: version %d',
    (version) => {
      const db = new Sqlite(':memory:');
      db.exec(`${sqlite.MIGRATIONS.slice(0, version).join('\n')}; PRAGMA user_version = ${version}`);
      showAsCurrent(db);
      for (const { column } of FACTS) expect(db.prepare(`SELECT ${column} FROM fetched`).all()).toEqual([]);
      db.close();
    },
  );
});

describe('a schema version that adds facts', () => {
  const history = ['CREATE TABLE fetched', 'ALTER TABLE fetched ADD COLUMN old TEXT;'];
  const facts: PageFact[] = [
    { ...PAGE_FACTS.title, name: 'title' },
    { ...PAGE_FACTS.title, name: 'h1', column: 'old', since: { sqlite: 2, postgres: 2 } },
    { ...PAGE_FACTS.wordCount, name: 'wordCount', column: 'one', since: { sqlite: 3, postgres: 3 } },
    { ...PAGE_FACTS.contentHash, name: 'contentHash', column: 'two', since: { sqlite: 3, postgres: 3 } },
  ];
  const made = {
    sqlite: 'ALTER TABLE fetched ADD COLUMN one INTEGER;\nALTER TABLE fetched ADD COLUMN two BLOB;',
    postgres: 'ALTER TABLE fetched ADD COLUMN one integer;\nALTER TABLE fetched ADD COLUMN two bytea;',
  };

  it.each(['sqlite', 'postgres'] as const)(
    'is made at the end of the list, and where its mark stands: %s',
    (store) => {
      expect(withFactColumns(store, history, facts)).toEqual([...history, made[store]]);
      const longer = [...history, ADDS_FACTS, 'next'];
      expect(withFactColumns(store, longer, facts)).toEqual([...history, made[store], 'next']);
      expect(withFactColumns(store, history, facts.slice(0, 2))).toEqual(history);
    },
  );

  it('is no place for anything else, nor for nothing', () => {
    expect(() => withFactColumns('sqlite', [...history, 'ALTER TABLE run ADD COLUMN x TEXT'], facts)).toThrow(
      'version 3 of sqlite has no column one: put ADDS_FACTS in its place',
    );
    expect(() => withFactColumns('sqlite', [...history, ADDS_FACTS, ADDS_FACTS], facts)).toThrow(
      'no fact came with version 4 of sqlite',
    );
  });
});

it('the parser reads every fact that is stored as it gives it', () => {
  const html = `<!doctype html><html lang="de"><title>A title</title><meta name="description" content="About it">
    <script type="application/ld+json">{"@type":"Thing"}</script><h1>First</h1><h1>Second</h1><p>two words</html>`;
  const bytes = Buffer.from(html);
  const input = {
    bytes,
    length: bytes.length,
    contentType: 'text/html;charset=utf-8',
    xRobotsTag: null,
    agentToken: '',
  };
  const expected: ParsedFacts = {
    title: 'A title',
    h1: 'First',
    description: 'About it',
    lang: 'de',
    charset: 'utf-8',
    wordCount: 4,
    structuredData: '{"@type":"Thing"}',
  };
  expect(createPageParser()(input)).toMatchObject(expected);
  expect(PARSED_FACTS.toSorted()).toEqual(Object.keys(expected).sort());
});

/** Any value but the empty one. */
const RANDOM: Record<FactKind, (random: SeededRandom) => unknown> = {
  whole: (random) => 1 + random.below(1000),
  long: (random) => 2 ** 40 + random.below(1000),
  duration: (random) => 1 + random.below(1000),
  time: (random) => Date.UTC(2026, 0, 2) + random.below(1_000_000_000),
  text: (random) => `"é\t\\N, 猫 ${random.below(1_000_000)}'`,
  flag: () => true,
  hash: (random) => Uint8Array.from({ length: 32 }, () => random.below(256)),
  bits: (random) => BigInt.asIntN(64, (BigInt(1 + random.below(2 ** 31)) << 33n) - 1n),
};

function randomFacts(seed: number): PageFacts {
  const random = seededRandom(seed);
  return Object.fromEntries(FACTS.map(({ name, kind }) => [name, RANDOM[kind](random)])) as PageFacts;
}

/** What a view shows of a fact. */
const SHOWN: Partial<Record<FactKind, (value: never) => unknown>> = {
  time: (value: number) => new Date(value).toISOString(),
  hash: (value: Uint8Array) => Buffer.from(value).toString('hex'),
  flag: (value: boolean) => (value ? 1 : 0),
  bits: (value: bigint) => String(value),
};

function shownIn(view: FactView, facts: PageFacts): Record<string, unknown> {
  return Object.fromEntries(
    FACTS.flatMap(({ name, column, kind, shown }) => {
      const place = shown?.[view];
      if (place === undefined) return [];
      const value = facts[name] as never;
      const isSeconds = view === 'crawled_url' && kind === 'time';
      const isHex = view === 'row' && kind === 'bits';
      const told = isHex
        ? BigInt.asUintN(64, value).toString(16).padStart(16, '0')
        : isSeconds
          ? Math.trunc((value as number) / 1000)
          : (SHOWN[kind]?.(value) ?? value);
      return [[place.as ?? column, told]];
    }),
  );
}

const open = (address: string) =>
  openStore({
    address,
    clock: systemClock,
    onFailure(error) {
      throw error;
    },
  });

async function begin(address: string) {
  const store = await open(address);
  const request = {
    project: 'site',
    owner: 'me',
    configHash: '',
    config: '{}',
    fresh: false,
    metadata: null,
  };
  return { store, run: await store.begin({ ...request, now: systemClock.now() }) };
}

/** Answers what `past` says of each page just settled. */
async function visitAll(run: RunStore, pages: number, settlementOf: (claim: Claim, i: number) => Settlement) {
  const lease = (await run.frontier.leaseHost(HOST, systemClock.now(), 60_000))!;
  const { claims } = await run.frontier.claim(lease, pages, systemClock.now());
  expect(claims).toHaveLength(pages);
  const past: unknown[] = [];
  for (const [i, claim] of claims.entries()) {
    await run.frontier.settle(lease, settlementOf(claim, i));
    past.push(await run.history.past(claim.pageId));
  }
  await run.frontier.release(lease);
  await run.run.finish('completed', systemClock.now(), null);
  return past;
}

/** Visits a page for each of these, named by its place. */
async function settleAll(address: string, all: readonly PageFacts[]): Promise<unknown[]> {
  const { store, run } = await begin(address);
  await run.frontier.offer(all.map((_, i) => candidate(`${i}`)));
  const past = await visitAll(run, all.length, (claim, i) => processed(claim, { facts: all[i] }));
  await store.close();
  return past;
}

async function expectShown(address: string, all: readonly PageFacts[]): Promise<void> {
  for (const view of ['pages', 'crawled_pages', 'crawled_url', 'urls'] as const) {
    const rows = await askStore(address, (ask) => ask(`SELECT * FROM ${view} ORDER BY id`));
    const bits = await askStore(address, (ask) =>
      ask('SELECT CAST(simhash AS text) AS simhash FROM pages ORDER BY id'),
    );
    for (const [i, facts] of all.entries()) {
      // 64 bits do not fit a number.
      const row = 'simhash' in rows[i] ? { ...rows[i], ...bits[i] } : rows[i];
      expect(row, `${view} of ${address}`).toMatchObject(shownIn(view, facts));
    }
  }
  const side = await openReadSide(address);
  const [{ id }] = await side.projects();
  for (const [i, facts] of all.entries())
    expect(await side.page(id, url(`${i}`))).toMatchObject(shownIn('row', facts));
  await side.close();
}

describe('every fact', () => {
  it('is kept from settling to past, through copies to PostgreSQL and back, and in every view and row', async () => {
    const all = [1, 2, 3].map(randomFacts);
    const [file, database, copied, back] = [
      await newStore('SQLite'),
      await newStore('PostgreSQL'),
      await newStore('PostgreSQL'),
      await newStore('SQLite'),
    ];
    for (const address of [file, database]) {
      const past = await settleAll(address, all);
      expect(past).toEqual(
        all.map((facts) => ({ ...comparedFacts(facts), text: null, links: [], redirectTo: null })),
      );
    }
    await copy(file, copied);
    await copy(copied, back);
    for (const address of [file, database, copied, back]) await expectShown(address, all);
    const stored = (address: string) =>
      askStore(address, (ask) =>
        ask(`SELECT ${FACTS.map(({ column }) => column).join(', ')} FROM fetched ORDER BY page_id`),
      );
    expect(await stored(back)).toEqual(await stored(file));
    const [first] = await stored(file);
    for (const { column } of FACTS) expect(first[column], column).not.toBeNull();
  });

  it('is kept also where it does not stand in the order of the table', async () => {
    const facts = Object.fromEntries(Object.entries(randomFacts(4)).reverse()) as PageFacts;
    const file = await newStore('SQLite');
    await settleAll(file, [facts]);
    await expectShown(file, [facts]);
  });

  it('that was not read is empty, and copied', () => {
    for (const { name, empty } of FACTS) expect(NO_FACTS[name]).toBe(empty);
    for (const { column, kind } of FACTS)
      expect(COPY_TABLES.fetched).toMatchObject({ [column]: FACT_KINDS[kind].copied });
  });

  it('that a touch says is written by it, in both stores, and no other', async () => {
    const facts = randomFacts(5);
    const said = touchedFacts(randomFacts(6));
    for (const kind of KINDS) {
      const address = await newStore(kind);
      await settleAll(address, [facts]);
      await touchPage(address, said);
      await expectShown(address, [{ ...facts, ...said }]);
    }
  });
});

it.each(KINDS)('a claim says of the last visit what its facts were: %s', async (kind) => {
  const facts = randomFacts(8);
  const address = await newStore(kind);
  await settleAll(address, [facts]);
  const { store, run } = await begin(address);
  await run.frontier.reconsider(() => ({ state: PAGE_STATES.Queued, priority: 1, reason: null }));
  const said: FactName[] = [];
  await visitAll(run, 1, (claim) => {
    for (const { name } of FACTS) {
      if (!(name in claim.last!)) continue;
      said.push(name);
      expect(claim.last![name as keyof LastVisit], name).toSatisfy((value) =>
        isSameValue(value, facts[name]),
      );
    }
    return processed(claim);
  });
  await store.close();
  expect(said).toHaveLength(12);
});

const isSameValue = (a: unknown, b: unknown) =>
  a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b;

function touchedFacts(facts: PageFacts): PageTouch {
  const names = FACTS.filter(({ touched }) => touched !== undefined).map(({ name }) => name);
  return Object.fromEntries(names.map((name) => [name, facts[name]])) as unknown as PageTouch;
}

/** In the next run. */
async function touchPage(address: string, said: PageTouch): Promise<void> {
  const { store, run } = await begin(address);
  await run.frontier.reconsider(() => ({ state: PAGE_STATES.Queued, priority: 1, reason: null }));
  const visit = visited('unchanged', '304');
  await visitAll(run, 1, (claim) => processed(claim, { facts: null, touch: said, visit }));
  await store.close();
}

describe('a fact that takes part in change detection', () => {
  const page = (facts: PageFacts): ComparedPage => ({
    ...comparedFacts(facts),
    ...{ text: null, links: [], redirectTo: null, type: 'text/html', content: 'text' },
  });
  const base = { ...NO_FACTS, statusCode: 200 };
  const other = (name: FactName) => ({ ...base, [name]: otherValue(PAGE_FACTS[name]) });
  const otherValue = ({ kind, column }: Pick<PageFact, 'kind' | 'column'>) =>
    column === 'structured_data'
      ? '{"@type":"Thing"}'
      : column === 'status_code'
        ? 404
        : RANDOM[kind](seededRandom(7));

  it.each(COMPARED)(
    'is told as its part of a change, and changes the hash of facets: $name',
    ({ name, part }) => {
      expect(CHANGE_PARTS).toContain(part);
      expect(comparePages(page(base), page(other(name)))?.parts).toEqual([part as ChangePart]);
      const hashOf = (facts: Facets) => Buffer.from(facetHash(facts, { sum: 0, bits: 0 })).toString('hex');
      if (name !== 'statusCode') expect(hashOf(other(name))).not.toBe(hashOf(base));
    },
  );
});

/** A copy that dies goes on where it was, and one that is not what it should be is found out. */
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { CopyTable } from '../../src/store/copy-port.ts';
import type { CopyEvent } from '../../src/store/copy-project.ts';
import { openCopySide } from '../../src/store/open-store.ts';
import { useBench } from '../crawls/crawl-site.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { copy, crawlSite, KINDS, ownFacts, useStores } from './copy-bench.ts';
import { askStore, projectFacts } from './project-facts.ts';

const bench = useBench();
const newStore = useStores(bench);

describe('an interrupted copy', () => {
  it.each(KINDS)('goes on wherever it died, into %s', async (kind) => {
    const { file } = await crawlSite(bench);
    const before = await projectFacts(file.path, 'site');
    let batches = 0;
    await copy(file.path, await newStore(kind), {
      onEvent: (event) => {
        if (event.type === 'wrote' && !event.isDone) batches++;
      },
    });
    expect(batches).toBeGreaterThan(15);
    const to = await newStore(kind);
    const places = new Set<CopyTable>();
    // Each time it dies one batch further on, so that every batch is once the one that is missing.
    for (let call = 1; call < batches; call++) {
      const onEvent = (event: CopyEvent) => {
        if (event.type === 'begun' && event.resumedAt !== null) places.add(event.resumedAt);
      };
      await expect(copy(file.path, to, { dieAt: 2, onEvent })).rejects.toThrow('died');
      await askStore(to, async (ask) => {
        expect(await ask('SELECT name FROM project')).toEqual([{ name: 'site (copy under way)' }]);
      });
    }
    const last = await copy(file.path, to);
    expect(last!.tables.every(({ isEqual }) => isEqual)).toBe(true);
    expect(places.size).toBeGreaterThan(6);
    expect(await projectFacts(to, 'site')).toEqual(before);
    expect(await askStore(to, (ask) => ask("SELECT key FROM meta WHERE key LIKE 'copy:%'"))).toEqual([]);
  });

  it.each(KINDS)('begins again when the source has changed meanwhile, into %s', async (kind) => {
    const { file, web } = await crawlSite(bench, { stopAt: '/a' });
    const to = await newStore(kind);
    await expect(copy(file.path, to, { dieAt: 12 })).rejects.toThrow('died');
    await bench.crawl(file, web.url('/'), { project: 'site', anchorText: true });
    await copy(file.path, to);
    expect(await projectFacts(to, 'site')).toEqual(await projectFacts(file.path, 'site'));
    const counts = await askStore(to, (ask) => ask('SELECT count(*) AS n FROM request'));
    expect(counts).toEqual(file.rows('SELECT count(*) AS n FROM request'));
  });

  it('leaves its ids to nobody: a crawl into the same file in between does no harm', async () => {
    const { file, web } = await crawlSite(bench);
    const to = bench.file();
    await expect(copy(file.path, to.path, { dieAt: 6 })).rejects.toThrow('died');
    await bench.crawl(to, web.url('/'), { project: 'own' });
    const own = await projectFacts(to.path, 'own');
    await copy(file.path, to.path);
    expect((await projectFacts(to.path, 'site')).links).toEqual(
      (await projectFacts(file.path, 'site')).links,
    );
    expect(await projectFacts(to.path, 'own')).toEqual(own);
  });

  it('of something else is refused, and dropped when asked', async () => {
    const [{ file }, { file: second }] = [await crawlSite(bench), await crawlSite(bench)];
    for (const kind of KINDS) {
      const to = await newStore(kind);
      await expect(copy(file.path, to, { dieAt: 12 })).rejects.toThrow('died');
      await expect(copy(second.path, to)).rejects.toMatchObject({ code: 'copy-other' });
      await copy(second.path, to, { restart: true });
      expect(await ownFacts(to, 'site')).toEqual(await ownFacts(second.path, 'site'));
    }
  });

  it('is carried on by one command only', async () => {
    const { file } = await crawlSite(bench);
    const to = await newStore('PostgreSQL');
    const [source, first, second] = [
      await openCopySide(file.path, 'from', 7),
      await openCopySide(to, 'to'),
      await openCopySide(to, 'to'),
    ];
    try {
      const reader = await source.read(1);
      const request = { name: 'site', source: 'x', sourceProject: 'site', reader, restart: false };
      const [one, other] = [(await first.write(request))!, (await second.write(request))!];
      const batches: { rows: never[]; after: number }[] = [];
      for await (const batch of reader.batches('run', 0)) batches.push(batch as never);
      await one.write('run', batches[0]);
      await expect(other.write('run', batches[0])).rejects.toMatchObject({ code: 'copy-in-use' });
      expect(await askStore(to, (ask) => ask('SELECT count(*) AS n FROM run'))).toEqual([{ n: 2 }]);
      await reader.end();
    } finally {
      for (const side of [source, first, second]) await side.close();
    }
  });
});

describe('the comparison', () => {
  const DAMAGES: [table: string, statement: string][] = [
    ['fetched', "UPDATE fetched SET title = 'forged' WHERE page_id = (SELECT min(page_id) FROM fetched)"],
    ['link_set', 'DELETE FROM link_set WHERE page_id = (SELECT min(page_id) FROM link_set)'],
    ['url', 'UPDATE url SET depth = depth + 1 WHERE id = (SELECT max(id) FROM url)'],
    ['request', 'DELETE FROM request WHERE id = (SELECT max(id) FROM request)'],
    ['host', 'UPDATE host SET not_before = not_before - 1'],
    ['robots_txt', 'DELETE FROM robots_txt'],
  ];

  it.each(KINDS)('finds what %s holds wrong, and says in which table', async (kind) => {
    const { file } = await crawlSite(bench);
    const to = await newStore(kind);
    for (const [table, damage] of DAMAGES) {
      // Everything is written, then the target is damaged before both sides are compared.
      const onEvent = ({ type }: CopyEvent) => {
        if (type === 'written') throw new Error('died');
      };
      await expect(copy(file.path, to, { restart: true, onEvent })).rejects.toThrow('died');
      if (kind === 'SQLite') {
        const db = new Sqlite(to);
        db.exec(damage);
        db.close();
      } else await (await sharedPostgres()).run(damage, to);
      const message = expect.stringContaining(`source: ${table} has`);
      const failed = { code: 'copy-differs', exitCode: 1, message };
      await expect(copy(file.path, to), damage).rejects.toMatchObject(failed);
      // It stays what it is until it is dropped.
      await expect(copy(file.path, to), damage).rejects.toMatchObject(failed);
    }
    await copy(file.path, to, { restart: true });
    expect(await projectFacts(to, 'site')).toEqual(await projectFacts(file.path, 'site'));
  });
});

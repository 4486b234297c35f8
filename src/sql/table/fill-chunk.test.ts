import { describe, expect, it } from 'vitest';
import { crawlRow } from '../../../test/sql/crawl-row.ts';
import { rowsOf, useDuckFolder } from '../../../test/sql/duck-folder.ts';
import { openTarget } from './check-target.ts';
import type { CrawlRow } from './crawl-row.ts';
import { createChunkFiller } from './fill-chunk.ts';
import type { TargetPlan } from './target-plan.ts';

const folder = useDuckFolder();
const target = { catalog: null, schema: null, table: 'pages' };
const html = { contentType: 'text/html', charset: 'utf-8' };

async function openPages() {
  const database = await folder.open('web.db');
  const user = await database.connect();
  const plan: TargetPlan = await openTarget(user, { target, extracted: [] });
  return { user, plan, fill: createChunkFiller(plan.columns) };
}

async function bodiesOf(rows: readonly Partial<CrawlRow>[]): Promise<unknown[]> {
  const { user, plan, fill } = await openPages();
  const appender = await user.createAppender(plan.table, plan.schema, plan.catalog);
  fill!(
    appender,
    rows.map((row, i) => crawlRow(`https://example.com/${i}`, row)),
  );
  appender.closeSync();
  return (await rowsOf(user, 'SELECT body FROM pages ORDER BY rowid')).flat();
}

describe('rows by columns', () => {
  it('have bodies in every encoding as text, without the byte order mark', async () => {
    const utf8 = Buffer.from('größe \0 漢');
    expect(
      await bodiesOf([
        { ...html, body: utf8 },
        { ...html, body: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), utf8]) },
        { ...html, charset: 'windows-1252', body: Buffer.from('größe €'.replace('€', '\x80'), 'latin1') },
        { ...html, charset: 'windows-1252', body: Buffer.from('äöü', 'latin1') },
        { ...html, body: Buffer.from('') },
      ]),
    ).toEqual(['größe \0 漢', 'größe \0 漢', 'größe €', 'äöü', '']);
  });

  it('have U+FFFD for what is no UTF-8', async () => {
    const broken = Buffer.concat([Buffer.from('größe '), Buffer.from([0xff]), Buffer.from(' end')]);
    expect(await bodiesOf([{ ...html, body: broken }])).toEqual(['größe \ufffd end']);
  });

  it('have no body where there is none and where it is no text', async () => {
    expect(
      await bodiesOf([{ body: null }, { contentType: 'image/png', body: Buffer.from([1, 2]) }, { ...html }]),
    ).toEqual([null, null, null]);
  });

  it('may be more than a chunk of DuckDB holds', async () => {
    const bodies = await bodiesOf(
      Array.from({ length: 5000 }, (_, i) => ({ ...html, body: Buffer.from(`page ${i}`) })),
    );
    expect([bodies.length, bodies[2048], bodies[4999]]).toEqual([5000, 'page 2048', 'page 4999']);
  });

  it('are not for tables that need defaults or conversions', async () => {
    const database = await folder.open('web.db');
    const user = await database.connect();
    const fillOf = async (columns: string) => {
      await user.run(`CREATE OR REPLACE TABLE pages (url VARCHAR, ${columns})`);
      return createChunkFiller((await openTarget(user, { target, extracted: [] })).columns);
    };
    for (const column of ['seen BOOLEAN DEFAULT true', 'depth BIGINT', 'headers MAP(VARCHAR, VARCHAR)'])
      expect([column, await fillOf(column)]).toEqual([column, null]);
    expect(await fillOf('body BLOB')).not.toBe(null);
  });
});

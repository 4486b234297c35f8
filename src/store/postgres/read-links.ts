/**
 * Unpacks link sets for reading. A set names its targets by id alone, and an id may be in any partition: the URLs of a
 * whole batch are asked for together, and those asked for lately are remembered, within bounds.
 */
import { LINK_FLAGS, relWords } from '../../parse/parsed-page.ts';
import type { LinkBetween, LinkFilter, LinkRow } from '../read-rows.ts';
import type { Sql } from './connection.ts';
import { reverseSourcesOf } from './reverse-links.ts';
import { ask } from './session.ts';

interface LinkSetRow {
  page_id: number;
  host_id: number;
  url: string;
  run_id: number;
  targets: number[];
  flags: number[] | null;
  anchors: (string | null)[] | null;
}

const COLUMNS = 'l.page_id, l.host_id, u.url, l.run_id, l.targets, l.flags, l.anchors';
const OWNER = 'url u ON u.id = l.page_id AND u.host_id = l.host_id';
const MOST_URLS = 100_000;

export function createLinkReader(sql: Sql, batch: number) {
  /** Few sets a batch, since a set may be a hundred kilobytes. */
  const size = Math.max(1, Math.floor(batch / 20));
  let urls = new Map<number, string>();

  async function learn(ids: readonly number[]): Promise<void> {
    const asked = [...new Set(ids)].filter((id) => !urls.has(id));
    if (asked.length === 0) return;
    // What this batch needs besides must stay, so all of it is asked for anew.
    const isFull = urls.size + asked.length > MOST_URLS;
    if (isFull) urls = new Map();
    const wanted = isFull ? [...new Set(ids)] : asked;
    const rows = await ask<{ id: number; url: string }>(
      sql,
      'SELECT id, url FROM url WHERE id = ANY ($1::int[])',
      [wanted],
    );
    for (const { id, url } of rows) urls.set(id, url);
  }

  /** The run in which a link was added to its page last, where that was not the run of the set. */
  async function additionsTo(sets: readonly LinkSetRow[]): Promise<Map<number, Map<number, number>>> {
    const rows = await ask<{ page_id: number; run_id: number; added: number[] }>(
      sql,
      `SELECT page_id, run_id, added FROM link_change
       WHERE host_id = ANY ($1::int[]) AND page_id = ANY ($2::int[]) ORDER BY page_id, run_id`,
      [[...new Set(sets.map(({ host_id }) => host_id))], sets.map(({ page_id }) => page_id)],
    );
    const byPage = new Map<number, Map<number, number>>();
    for (const { page_id, run_id, added } of rows) {
      const runs = byPage.get(page_id) ?? new Map<number, number>();
      for (const id of added) runs.set(id, run_id);
      byPage.set(page_id, runs);
    }
    return byPage;
  }

  /** `isWanted` chooses targets: the links are then seen from these. */
  async function* unpack(
    sets: readonly LinkSetRow[],
    isWanted: ((target: number) => boolean) | null,
  ): AsyncGenerator<LinkRow> {
    if (sets.length === 0) return;
    const wanted = sets.flatMap(({ targets }) => (isWanted === null ? targets : targets.filter(isWanted)));
    await learn(wanted);
    const additions = await additionsTo(sets);
    for (const set of sets) {
      const addedIn = additions.get(set.page_id);
      for (const [i, target] of set.targets.entries()) {
        if (isWanted !== null && !isWanted(target)) continue;
        const flag = set.flags?.[i] ?? 0;
        yield {
          from_url: set.url,
          to_url: urls.get(target) as string,
          direction: isWanted === null ? 'out' : 'in',
          nofollow: flag & LINK_FLAGS.nofollow,
          rel: relWords(flag),
          anchor: set.anchors?.[i] ?? null,
          discovered_run: addedIn?.get(target) ?? set.run_id,
        };
      }
    }
  }

  /** Batches by page id; the page's own row is joined to what is left of a batch. */
  async function* sets(where: string, values: unknown[]): AsyncGenerator<LinkSetRow[]> {
    const text = `SELECT ${COLUMNS} FROM link_set l JOIN ${OWNER}
      WHERE l.page_id > $1 ${where} ORDER BY l.page_id LIMIT $2`;
    for (let after = 0; ; ) {
      const rows = await ask<LinkSetRow>(sql, text, [after, size, ...values]);
      yield rows;
      if (rows.length < size) return;
      after = rows[rows.length - 1].page_id;
    }
  }

  async function* limited(rows: AsyncIterable<LinkRow>, limit: number | undefined): AsyncGenerator<LinkRow> {
    let left = limit ?? Number.POSITIVE_INFINITY;
    if (left <= 0) return;
    for await (const row of rows) {
      yield row;
      if (--left <= 0) return;
    }
  }

  function ofProject(project: string | undefined): AsyncGenerator<LinkSetRow[]> {
    const where = project === undefined ? '' : 'AND u.project_id = (SELECT id FROM project WHERE name = $3)';
    return sets(where, project === undefined ? [] : [project]);
  }

  async function* everyLink(project: string | undefined): AsyncGenerator<LinkRow> {
    for await (const some of ofProject(project)) yield* unpack(some, null);
  }

  async function* linksTo(
    targets: { has(id: number): boolean },
    { project, limit }: LinkFilter,
  ): AsyncGenerator<LinkBetween> {
    let left = limit ?? Number.POSITIVE_INFINITY;
    const isWanted = (id: number) => targets.has(id);
    for await (const some of ofProject(project)) {
      const leading = some.filter((set) => set.targets.some(isWanted));
      const ends = leading.flatMap((set) =>
        set.targets.filter(isWanted).map((to) => ({ from_id: set.page_id, to_id: to })),
      );
      let place = 0;
      for await (const row of unpack(leading, isWanted)) {
        if (left-- <= 0) return;
        yield { ...row, ...ends[place++] };
      }
    }
  }

  async function* linksOfPage(pageId: number): AsyncGenerator<LinkRow> {
    const own = await ask<LinkSetRow>(
      sql,
      `SELECT ${COLUMNS} FROM link_set l JOIN ${OWNER} WHERE l.page_id = $1`,
      [pageId],
    );
    yield* unpack(own, null);
    const sources = await reverseSourcesOf(sql, pageId);
    if (sources !== null) {
      for (let at = 0; at < sources.length; at += size)
        for (const { from_id: _, to_id: __, ...link } of await linksFrom(
          sources.slice(at, at + size),
          new Set([pageId]),
          true,
        ))
          yield link;
      return;
    }
    for await (const some of sets('AND l.targets @> ARRAY[$3::int]', [pageId]))
      yield* unpack(some, (target) => target === pageId);
  }

  /** Links from these pages to the wanted ones, with the ids of both. */
  async function linksFrom(
    fromIds: readonly number[],
    to: { has(id: number): boolean },
    isInward: boolean,
  ): Promise<LinkBetween[]> {
    const found: LinkBetween[] = [];
    const isWanted = (id: number) => to.has(id);
    for (let at = 0; at < fromIds.length; at += size) {
      const sets = await ask<LinkSetRow>(
        sql,
        `SELECT ${COLUMNS} FROM link_set l JOIN ${OWNER} WHERE l.page_id = ANY ($1::int[]) ORDER BY l.page_id`,
        [fromIds.slice(at, at + size)],
      );
      const ends = sets.flatMap((set) =>
        set.targets.filter(isWanted).map((target) => ({ from_id: set.page_id, to_id: target })),
      );
      let place = 0;
      for await (const row of unpack(sets, isWanted))
        found.push({ ...row, direction: isInward ? 'in' : 'out', ...ends[place++] });
    }
    return found;
  }

  return {
    linksFrom,
    all: (filter: LinkFilter) => limited(everyLink(filter.project), filter.limit),
    linksTo,
    of: (pageId: number, filter: LinkFilter) => limited(linksOfPage(pageId), filter.limit),
  };
}

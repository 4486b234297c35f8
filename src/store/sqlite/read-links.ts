/** Unpacks link sets for reading: JSON in one go per page, because asking SQL for the n-th flag is quadratic. */
import type { Database } from 'better-sqlite3';
import { LINK_FLAGS, relWords } from '../../parse/parsed-page.ts';
import type { LinkBetween, LinkFilter, LinkRow } from '../read-rows.ts';
import { reverseSourcesOf } from './reverse-links.ts';

interface LinkSetRow {
  page_id: number;
  url: string;
  run_id: number;
  targets: string;
  flags: string | null;
  anchors: string | null;
}

const SETS = 'link_set l JOIN url u ON u.id = l.page_id';
const COLUMNS = 'l.page_id, u.url, l.run_id, l.targets, l.flags, l.anchors';

export function createLinkReader(db: Database, batch: number) {
  const urlOf = db.prepare('SELECT url FROM url WHERE id = ?').pluck();
  const changesOf = db.prepare('SELECT run_id, added FROM link_change WHERE page_id = ? ORDER BY run_id');
  const setOf = db.prepare(`SELECT ${COLUMNS} FROM ${SETS} WHERE l.page_id = ?`);

  /** `isWanted` chooses targets: the links are then seen from these. */
  function* unpack(set: LinkSetRow, isWanted: ((target: number) => boolean) | null): Generator<LinkRow> {
    const targets = JSON.parse(set.targets) as number[];
    const flags = set.flags === null ? [] : (JSON.parse(set.flags) as number[]);
    const anchors = set.anchors === null ? [] : (JSON.parse(set.anchors) as (string | null)[]);
    const addedIn = new Map<number, number>();
    for (const { run_id, added } of changesOf.iterate(set.page_id) as Iterable<{
      run_id: number;
      added: string;
    }>) {
      for (const id of JSON.parse(added) as number[]) addedIn.set(id, run_id);
    }
    for (const [i, target] of targets.entries()) {
      if (isWanted !== null && !isWanted(target)) continue;
      const flag = flags[i] ?? 0;
      yield {
        from_url: set.url,
        to_url: urlOf.get(target) as string,
        direction: isWanted === null ? 'out' : 'in',
        nofollow: flag & LINK_FLAGS.nofollow,
        rel: relWords(flag),
        anchor: anchors[i] ?? null,
        discovered_run: addedIn.get(target) ?? set.run_id,
      };
    }
  }

  /** Batches hold few sets, since a set may be a hundred kilobytes. */
  function* sets(where: string, values: (string | number)[]): Generator<LinkSetRow> {
    const size = Math.max(1, Math.floor(batch / 20));
    const read = db.prepare(
      `SELECT ${COLUMNS} FROM ${SETS.replace(' JOIN ', ' CROSS JOIN ')} WHERE l.page_id > ? ${where} ORDER BY l.page_id LIMIT ?`,
    );
    for (let after = 0; ; ) {
      const rows = read.all(after, ...values, size) as LinkSetRow[];
      yield* rows;
      if (rows.length < size) return;
      after = rows[rows.length - 1].page_id;
    }
  }

  async function* limited(rows: Iterable<LinkRow>, limit: number | undefined): AsyncGenerator<LinkRow> {
    let left = limit ?? Number.POSITIVE_INFINITY;
    if (left <= 0) return;
    for (const row of rows) {
      yield row;
      if (--left <= 0) return;
    }
  }

  function ofProject(project: string | undefined): Generator<LinkSetRow> {
    const where = project === undefined ? '' : 'AND u.project_id = (SELECT id FROM project WHERE name = ?)';
    return sets(where, project === undefined ? [] : [project]);
  }

  function* everyLink(project: string | undefined): Generator<LinkRow> {
    for (const set of ofProject(project)) yield* unpack(set, null);
  }

  function* linksOfPage(pageId: number): Generator<LinkRow> {
    const own = setOf.get(pageId) as LinkSetRow | undefined;
    if (own !== undefined) yield* unpack(own, null);
    const sources = reverseSourcesOf(db, pageId);
    if (sources !== null) {
      for (const { from_id: _, to_id: __, ...link } of linksFrom(sources, new Set([pageId]), true))
        yield link;
      return;
    }
    // The digits may be part of a longer id: the cheap test picks the sets, unpacking decides.
    for (const set of sets('AND instr(l.targets, ?) > 0', [String(pageId)]))
      yield* unpack(set, (target) => target === pageId);
  }

  async function* linksTo(
    targets: { has(id: number): boolean },
    { project, limit }: LinkFilter,
  ): AsyncGenerator<LinkBetween> {
    let left = limit ?? Number.POSITIVE_INFINITY;
    const isWanted = (id: number) => targets.has(id);
    for (const set of ofProject(project)) {
      const hits = (JSON.parse(set.targets) as number[]).filter(isWanted);
      if (hits.length === 0) continue;
      let place = 0;
      for (const row of unpack(set, isWanted)) {
        if (left-- <= 0) return;
        yield { ...row, from_id: set.page_id, to_id: hits[place++] };
      }
    }
  }

  /** Links from these pages to the wanted ones, with the ids of both. */
  function* linksFrom(
    fromIds: readonly number[],
    to: { has(id: number): boolean },
    isInward: boolean,
  ): Generator<LinkBetween> {
    const isWanted = (id: number) => to.has(id);
    for (const id of fromIds) {
      const set = setOf.get(id) as LinkSetRow | undefined;
      if (set === undefined) continue;
      const hits = (JSON.parse(set.targets) as number[]).filter(isWanted);
      let place = 0;
      for (const row of unpack(set, isWanted))
        yield { ...row, direction: isInward ? 'in' : 'out', from_id: id, to_id: hits[place++] };
    }
  }

  return {
    linksFrom,
    all: (filter: LinkFilter) => limited(everyLink(filter.project), filter.limit),
    linksTo,
    of: (pageId: number, filter: LinkFilter) => limited(linksOfPage(pageId), filter.limit),
  };
}

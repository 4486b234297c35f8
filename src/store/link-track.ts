/**
 * Links in the order of the page they stand on, then of the page they lead to. Links stand packed a page, so that one set
 * gives many rows: each is looked at, a set without links counts as one row that does not fit.
 */

import { type PageStateCode, pageStateName } from '../frontier/page-state.ts';
import type { Cut, Key } from './list-cursor.ts';
import type { LinkTargetsOf, ListDatabase } from './list-database.ts';
import type { LinkListFilter, ListedLink, SortOrder } from './list-queries.ts';
import { oneOf, statesOf } from './page-conditions.ts';
import {
  condition,
  createTableTrack,
  emptyTrack,
  inOrderOf,
  onward,
  type TableTrack,
} from './table-track.ts';
import type { Seen, Track } from './walk-list.ts';

interface Target {
  id: number;
  state: PageStateCode;
  status: number | null;
}

/** Sets that are read together: one may be a hundred kilobytes. */
const SETS = 50;
const LAST_ID = 2 ** 31 - 1;
/** Before all targets of a page. */
const NO_TARGET = 0;

async function targetsOf(db: ListDatabase, ids: readonly number[]): Promise<Map<number, Target>> {
  const wanted = oneOf('u.id', [...new Set(ids)]);
  const rows = await db.ask<Target>(
    `SELECT u.id, u.state, f.status_code AS status FROM url u
     LEFT JOIN fetched f ON f.page_id = u.id ${db.dialect.sameHost('f', 'u')} WHERE ${wanted.sql}`,
    wanted.values,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

function fitsTarget({ toStates, toStatusClasses }: LinkListFilter, target: Target | undefined): boolean {
  if (target === undefined) return false;
  const { state, status } = target;
  if (toStates !== undefined && !statesOf(toStates).includes(state)) return false;
  if (toStatusClasses === undefined) return true;
  return status !== null && toStatusClasses.some((first) => Math.floor(status / 100) === first);
}

export async function createLinkTrack(
  db: ListDatabase,
  filter: LinkListFilter,
  { projectId, order }: { projectId: number | null; order: SortOrder },
): Promise<Track> {
  if (filter.toId !== undefined) return createInwardTrack(db, filter, filter.toId, { projectId, order });
  const { fromId } = filter;
  const asksTarget = filter.toStates !== undefined || filter.toStatusClasses !== undefined;

  async function* setsFrom(from: Cut | null, isGrowing: boolean): AsyncGenerator<LinkTargetsOf[]> {
    const end = isGrowing ? NO_TARGET : LAST_ID;
    let first = Number(from?.key[0] ?? fromId ?? end);
    if (fromId !== undefined && first !== fromId) return;
    for (;;) {
      const sets = await db.linkSets(first, isGrowing, fromId === undefined ? SETS : 1);
      yield fromId === undefined ? sets : sets.filter(({ pageId }) => pageId === fromId);
      if (sets.length < SETS) return;
      first = sets[SETS - 1].pageId + (isGrowing ? 1 : -1);
    }
  }

  /** The keys of a set beyond the cut, in order. */
  function keysOf(
    { pageId, targets }: LinkTargetsOf,
    from: Cut | null,
    isGrowing: boolean,
    takesCut: boolean,
  ): Key[] {
    const sorted =
      targets.length === 0 ? [NO_TARGET] : [...targets].sort((a, b) => (isGrowing ? a - b : b - a));
    const edge = from !== null && from.key[0] === pageId ? Number(from.key[1]) : null;
    const isBeyond = (to: number) =>
      edge === null || (isGrowing ? to > edge : to < edge) || (takesCut && to === edge);
    return sorted.filter(isBeyond).map((to) => [pageId, to]);
  }

  async function judged(keys: readonly Key[]): Promise<Seen[]> {
    const pages = projectId === null || keys.length === 0 ? null : await ofProject(db, keys, projectId);
    const targets =
      asksTarget && keys.length > 0
        ? await targetsOf(
            db,
            keys.map(([, to]) => Number(to)),
          )
        : null;
    return keys.map((key) => ({
      key,
      fits:
        key[1] !== NO_TARGET &&
        (pages === null || pages.has(Number(key[0]))) &&
        (targets === null || fitsTarget(filter, targets.get(Number(key[1])))),
    }));
  }

  return {
    keyLength: 2,
    async step(from, direction, size) {
      const isGrowing = (order === 'asc') === (direction === 'forward');
      const takesCut = from !== null && (from.side === 'before') === (direction === 'forward');
      const keys: Key[] = [];
      for await (const sets of setsFrom(from, isGrowing)) {
        for (const set of sets) keys.push(...keysOf(set, from, isGrowing, takesCut));
        if (keys.length >= size) break;
      }
      return judged(keys.slice(0, size));
    },
  };
}

async function ofProject(db: ListDatabase, keys: readonly Key[], projectId: number): Promise<Set<number>> {
  const wanted = oneOf('id', [...new Set(keys.map(([from]) => Number(from)))]);
  const rows = await db.ask<{ id: number }>(`SELECT id FROM url WHERE project_id = ? AND ${wanted.sql}`, [
    projectId,
    ...wanted.values,
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** The pages that the reverse links name; each is asked whether it still has the link. */
function createSourceTrack(
  db: ListDatabase,
  sources: readonly number[],
  { within, joins, fits, order }: Pick<TableTrack, 'within' | 'joins' | 'fits' | 'order'>,
): Track {
  return {
    keyLength: 1,
    async step(from, direction, size) {
      const { sign, sorted } = onward(order, from, direction);
      const edge = Number(from?.key[0]);
      const isBeyond = (id: number) =>
        from === null || (id === edge ? sign.endsWith('=') : sign[0] === '>' ? id > edge : id < edge);
      const ids = sources.filter(isBeyond);
      const some = (sorted === 'ASC' ? ids : ids.reverse()).slice(0, size);
      const wanted = oneOf('page_id', some);
      const ofSources = createTableTrack(db, {
        ...{ table: 'link_set', alias: 'l', key: ['page_id'], order: 'asc', joins },
        ...{ within: [...within, wanted], fits },
      });
      const seen = await ofSources.step(null, 'forward', some.length);
      const fitting = new Set(seen.filter((row) => row.fits).map(({ key }) => key[0]));
      return some.map((id) => ({ key: [id], fits: fitting.has(id) }));
    },
  };
}

/** Every set is looked at for one target. */
async function createInwardTrack(
  db: ListDatabase,
  filter: LinkListFilter,
  toId: number,
  { projectId, order }: { projectId: number | null; order: SortOrder },
): Promise<Track> {
  if (!fitsTarget(filter, (await targetsOf(db, [toId])).get(toId))) return emptyTrack(2);
  const { sql, values } = db.dialect.hasTarget(toId);
  const fits = [condition(sql, ...values)];
  const within = filter.fromId === undefined ? [] : [condition('page_id = ?', filter.fromId)];
  const joins = projectId === null ? '' : `JOIN url u ON u.id = l.page_id ${db.dialect.sameHost('u', 'l')}`;
  if (projectId !== null) fits.push(condition('u.project_id = ?', projectId));
  const sources = await db.sourcesOf(toId);
  const sets =
    sources === null
      ? createTableTrack(db, {
          ...{ table: 'link_set', alias: 'l', key: ['page_id'], order },
          ...{ within, joins, fits },
        })
      : createSourceTrack(db, sources, { within, joins, fits, order });
  return {
    keyLength: 2,
    async step(from, direction, size) {
      const cut = from && { ...from, key: from.key.slice(0, 1) };
      const seen = await sets.step(cut, direction, size);
      return seen.map(({ key, fits }) => ({ key: [...key, toId], fits }));
    },
  };
}

export async function readLinks(
  db: ListDatabase,
  keys: readonly Key[],
  isInward: boolean,
): Promise<ListedLink[]> {
  if (keys.length === 0) return [];
  const targets = await targetsOf(
    db,
    keys.map(([, to]) => Number(to)),
  );
  const fromIds = [...new Set(keys.map(([from]) => Number(from)))];
  const links = await db.links(fromIds, targets, isInward);
  return inOrderOf(keys, links, ({ from_id, to_id }) => [from_id, to_id]).flatMap((link) => {
    const target = targets.get(link.to_id);
    return target === undefined
      ? []
      : { ...link, to_state: pageStateName(target.state), to_status: target.status };
  });
}

/**
 * Settling, between its halves: what the group's pages offered gets rows (make-urls.ts), while the group is still open
 * where somebody waits for them. A server may have lost them until the group is written: whoever writes it looks.
 */
import type { TransactionSql } from 'postgres';
import type { Group, Resolved } from './group.ts';
import { makeUrls } from './make-urls.ts';
import { findOurs } from './our-hosts.ts';
import { ask, recordset, rowsJson, type Session } from './session.ts';

/** Rows for the candidates that have none yet, but for those that only pages of lost hosts offered. */
export async function prepareGroup(session: Session, group: Group): Promise<void> {
  const { candidates, resolved } = group;
  const to = candidates.length;
  if (group.resolvedUpTo === to) return;
  const isWanted = await offeredByOurs(session, group);
  const wanted: number[] = [];
  for (let i = group.resolvedUpTo; i < to; i++) if (resolved[i] === undefined && isWanted(i)) wanted.push(i);
  if (wanted.length > 0) {
    const made = await makeUrls(
      session,
      wanted.map((i) => candidates[i]),
    );
    placeAll(resolved, wanted, made);
    group.witnesses.push(made.reduce(later));
  }
  resolved.length = Math.max(resolved.length, to);
  while (group.resolvedUpTo < to && resolved[group.resolvedUpTo] !== undefined) group.resolvedUpTo++;
}

function placeAll(resolved: Resolved[], places: readonly number[], made: readonly Resolved[]): void {
  for (let i = 0; i < places.length; i++) resolved[places[i]] = made[i];
}

/** The row that was written later: new ones after those that were found, and ids grow. */
function later(a: Resolved, b: Resolved): Resolved {
  if (a.isNew !== b.isNew) return a.isNew ? a : b;
  return a.id > b.id ? a : b;
}

// What a server loses are its last commits: whoever has the last has all.
const HAVE_WITNESSES = `
SELECT count(*)::int AS n FROM ${recordset(1, 'i int, h int', 'r')} JOIN url u ON u.id = r.i AND u.host_id = r.h`;

export async function hasWitnesses(tx: TransactionSql, witnesses: readonly Resolved[]): Promise<boolean> {
  if (witnesses.length === 0) return true;
  const keys = witnesses.map(({ id, hostId }) => ({ i: id, h: hostId }));
  const [{ n }] = await ask<{ n: number }>(tx, HAVE_WITNESSES, [rowsJson(keys)]);
  return n === keys.length;
}

/** Whether a host that is ours offered the candidate, or nobody's page did. */
async function offeredByOurs(session: Session, group: Group): Promise<(place: number) => boolean> {
  // Others may come in while the database answers.
  const settlements = group.settlements.slice();
  const leases = new Set(settlements.map(({ lease }) => lease));
  if (leases.size === 0) return () => true;
  const isOurs = await session.attempt(() => findOurs(session.maker, leases));
  if ([...leases].every(isOurs)) return () => true;
  const live = new Set(group.offered);
  for (const { offered, lease } of settlements)
    if (isOurs(lease)) for (const target of offered) if (target < 0) live.add(~target);
  return (place) => live.has(place);
}

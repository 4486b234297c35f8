/** Which of the leases under which something was settled still hold: the database's word, by host and fence number. */
import type { HostLease } from '../host-port.ts';
import { ask, type Runner, recordset, rowsJson } from './session.ts';

type IsOurs = (lease: HostLease) => boolean;

const OURS = `SELECT h.id, h.fence FROM ${recordset(1, 'h int, f bigint', 'r')} JOIN host h ON h.id = r.h AND h.fence = r.f`;
const LOCKED = 'ORDER BY h.id FOR NO KEY UPDATE OF h';

export function findOurs(runner: Runner, leases: Iterable<HostLease>): Promise<IsOurs> {
  return readOurs(runner, OURS, leases);
}

/** Nobody takes them until the transaction ends. */
export function lockOurs(runner: Runner, leases: Iterable<HostLease>): Promise<IsOurs> {
  return readOurs(runner, `${OURS} ${LOCKED}`, leases);
}

async function readOurs(runner: Runner, text: string, leases: Iterable<HostLease>): Promise<IsOurs> {
  const keys = [...leases].map(({ hostId, fence }) => ({ h: hostId, f: fence }));
  const valid = await ask<{ id: number; fence: number }>(runner, text, [rowsJson(keys)]);
  // A host may have been lost and taken again: only its last lease is ours.
  const fences = new Map(valid.map(({ id, fence }) => [id, fence]));
  return ({ hostId, fence }) => fences.get(hostId) === fence;
}

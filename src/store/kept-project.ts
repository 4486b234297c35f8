/** The row of a project that programs make and change; see project-port.ts. */
import { sumiError } from '../errors.ts';

export interface NewKeptProject {
  name: string;
  uid: string;
  websiteUrl: string | null;
  /** A JSON object; null: nothing is kept. */
  settings: string | null;
}

/** What is not said stays. */
export interface KeptChange {
  name?: string;
  websiteUrl?: string | null;
  settings?: string | null;
  /** The `updatedAt` that the caller has seen: another one is refused (`project-changed`). */
  ifUpdatedAt?: number;
}

export interface KeptProject extends NewKeptProject {
  id: number;
  /** Wall milliseconds; grows with every change. */
  updatedAt: number;
  deletedAt: number | null;
}

/** The row as it is to be; a row that is not there, or not as the caller has seen it, is refused. */
export function changedProject(
  uid: string,
  found: KeptProject | undefined,
  change: KeptChange,
  now: number,
): KeptProject {
  if (found === undefined) throw sumiError('project-unknown', { id: uid });
  if (change.ifUpdatedAt !== undefined && change.ifUpdatedAt !== found.updatedAt)
    throw sumiError('project-changed', { project: found.name });
  const { name = found.name, websiteUrl = found.websiteUrl, settings = found.settings } = change;
  return { ...found, name, websiteUrl, settings, updatedAt: laterThan(found.updatedAt, now) };
}

/** Of two changes in one millisecond, or after the clock was set back, the second has the greater time. */
export const laterThan = (before: number, now: number) => Math.max(before + 1, Math.round(now));

/** Frees the name: what is left of the project is found by its row only. */
export const nameWhilePurged = (uid: string) => `${uid} (being purged)`;

export const PURGED_RUN = 'its project was purged';

/** For SELECTs from `project`, without a name before the columns. */
export const KEPT_COLUMNS = `id, name, uid, website_url AS "websiteUrl", settings,
  CASE WHEN updated_at > created_at THEN updated_at ELSE created_at END AS "updatedAt", deleted_at AS "deletedAt"`;

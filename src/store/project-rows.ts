/** Rows of projects as both stores read them; those that are being purged are seen by nobody. */

/** Begins the UUID of a project in a file that is older than UUIDs: stable while nobody brings the file to this version. */
const OF_OLDER_FILE = '00000000-0000-4000-8000-';

/** `time`: wall milliseconds as ISO 8601; `uid`: the UUID of `p`. */
export function projectColumns(time: (column: string) => string, uid: string): string {
  return `p.id, p.name AS project, ${uid} AS uid, p.website_url, ${time('p.created_at')} AS created_at,
    ${time('CASE WHEN p.updated_at > p.created_at THEN p.updated_at ELSE p.created_at END')} AS updated_at,
    ${time('p.deleted_at')} AS deleted_at`;
}

export const IS_SEEN = 'p.purged_at IS NULL';

/** In SQLite, where a file that is only read may be older. */
export const UID_OF_ANY_FILE = `COALESCE(p.uid, printf('${OF_OLDER_FILE}%012x', p.id))`;

/** The project of an older file that has this UUID; 0: none. */
export function idOfOlderFile(uid: string): number {
  return uid.startsWith(OF_OLDER_FILE) ? Number.parseInt(uid.slice(OF_OLDER_FILE.length), 16) || 0 : 0;
}

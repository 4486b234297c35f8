/**
 * Saved queries of a project, in the records. A name is unique: it is claimed by a record of its own before a view takes it, so
 * that of several requests at once one gets it.
 */
import { createHash } from 'node:crypto';
import type { ListAnswer } from '../contract/lists.ts';
import { MOST_VIEWS, type NewView, type View, type ViewChange } from '../contract/views.ts';
import { sumiError } from '../errors.ts';
import type { Clock } from '../primitives/clock.ts';
import type { RecordPort, StoredRecord } from '../store/record-port.ts';
import { isUuid } from './find-project.ts';
import type { PageOfList } from './list-answer.ts';

export interface ViewKeeper {
  list(projectUid: string, place: PageOfList): Promise<ListAnswer<View>>;
  get(projectUid: string, id: string): Promise<View>;
  create(projectUid: string, view: NewView): Promise<View>;
  /** `ifVersion`: another one is refused (`record-changed`). */
  change(projectUid: string, id: string, change: ViewChange, ifVersion?: number): Promise<View>;
  remove(projectUid: string, id: string, ifVersion?: number): Promise<void>;
}

interface KeptView extends NewView {
  /** ISO 8601. */
  created_at: string;
  updated_at: string;
}

interface KeptName {
  of: string;
}

export interface ViewSurroundings {
  records: RecordPort;
  clock: Clock;
  random: (bytes: number) => Buffer;
}

/** Behind all ids. */
const NAMES = 'name/';
const keyOfName = (name: string) => `${NAMES}${createHash('sha256').update(name).digest('hex')}`;

export function createViewKeeper({ records, clock, random }: ViewSurroundings): ViewKeeper {
  const now = () => new Date(clock.now()).toISOString();

  async function find(projectUid: string, id: string): Promise<StoredRecord<KeptView>> {
    const found = isUuid(id) ? await records.get<KeptView>('view', projectUid, id.toLowerCase()) : null;
    if (found === null) throw sumiError('view-unknown', { id: id.slice(0, 40) });
    return found;
  }

  async function all(projectUid: string): Promise<StoredRecord<KeptView>[]> {
    const found = await records.list<KeptView>({ kind: 'view', scope: projectUid, limit: 1000 });
    return found.filter(({ key }) => !key.startsWith(NAMES));
  }

  /** Refused where another view has it. What was left over by a process that was killed is taken. */
  async function claimName(projectUid: string, name: string, id: string): Promise<void> {
    const key = keyOfName(name);
    const held = await records.get<KeptName>('view', projectUid, key);
    if (held !== null && held.value.of !== id) {
      const holder = await records.get<KeptView>('view', projectUid, held.value.of);
      if (holder?.value.name === name || isFresh(held)) throw taken(name);
    }
    const version = await records.put('view', projectUid, key, { of: id }, { ifVersion: held?.version ?? 0 });
    if (version === null) throw taken(name);
  }

  /** Its view may be on its way. */
  const isFresh = ({ changedAt }: StoredRecord) => clock.now() - changedAt < CLAIM_MS;

  async function freeName(projectUid: string, name: string, id: string): Promise<void> {
    const key = keyOfName(name);
    const held = await records.get<KeptName>('view', projectUid, key);
    if (held?.value.of === id) await records.remove('view', projectUid, key, held.version);
  }

  return {
    async list(projectUid, { limit = 50, cursor, count }) {
      const views = (await all(projectUid)).map(describeView);
      return {
        ...cut(views, limit, cursor),
        ...(count === true && { total: views.length, total_is_exact: true }),
      };
    },
    get: async (projectUid, id) => describeView(await find(projectUid, id)),
    async create(projectUid, { name, query }) {
      if ((await all(projectUid)).length >= MOST_VIEWS) throw sumiError('views-full', { most: MOST_VIEWS });
      const id = newUuid(random);
      await claimName(projectUid, name, id);
      const at = now();
      await records.put('view', projectUid, id, { name, query, created_at: at, updated_at: at });
      return describeView(await find(projectUid, id));
    },
    async change(projectUid, id, change, ifVersion) {
      const found = await find(projectUid, id);
      const refuse = (version: number) => sumiError('record-changed', { what: 'view', version });
      if (ifVersion !== undefined && found.version !== ifVersion) throw refuse(found.version);
      const before = found.value;
      const { name = before.name, query = before.query } = change;
      if (name !== before.name) await claimName(projectUid, name, found.key);
      const value: KeptView = { ...before, name, query, updated_at: now() };
      const version = await records.put('view', projectUid, found.key, value, { ifVersion: found.version });
      if (name !== before.name) await freeName(projectUid, version === null ? name : before.name, found.key);
      if (version === null) throw refuse((await find(projectUid, id)).version);
      return describeView(await find(projectUid, id));
    },
    async remove(projectUid, id, ifVersion) {
      const found = await find(projectUid, id);
      if (!(await records.remove('view', projectUid, found.key, ifVersion)))
        throw sumiError('record-changed', { what: 'view', version: found.version });
      await freeName(projectUid, found.value.name, found.key);
    },
  };
}

/** So long a name may be claimed before its view is there. */
const CLAIM_MS = 10_000;

function taken(name: string): Error {
  const errors = [{ pointer: '/name', detail: 'Another view of the project has this name.' }];
  return sumiError('view-exists', { name, errors });
}

function describeView({ key, scope, value, version }: StoredRecord<KeptView>): View {
  const { name, query, created_at, updated_at } = value;
  return { id: key, project_id: scope, name, query, created_at, updated_at, version };
}

/** By name; a cursor is a name and the side of it that follows. */
function cut(views: readonly View[], limit: number, cursor: string | undefined): ListAnswer<View> {
  const sorted = [...views].sort((a, b) => (a.name < b.name ? -1 : 1));
  const place = cursor === undefined ? null : readCursor(cursor);
  const beyond = sorted.filter(({ name }) =>
    place === null ? true : place.side === 'after' ? name > place.name : name < place.name,
  );
  const items = place?.side === 'before' ? beyond.slice(-limit) : beyond.slice(0, limit);
  const [first, last] = [items.at(0)?.name ?? place?.name, items.at(-1)?.name ?? place?.name];
  const isMore = last !== undefined && sorted.some(({ name }) => name > last);
  const isBefore = first !== undefined && sorted.some(({ name }) => name < first);
  return {
    items,
    next_cursor: isMore ? writeCursor({ side: 'after', name: last }) : null,
    prev_cursor: isBefore ? writeCursor({ side: 'before', name: first }) : null,
  };
}

interface ViewPlace {
  side: 'after' | 'before';
  name: string;
}

const writeCursor = ({ side, name }: ViewPlace) =>
  Buffer.from(JSON.stringify(['views', side, name])).toString('base64url');

function readCursor(text: string): ViewPlace {
  try {
    const [kind, side, name] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    if (kind === 'views' && (side === 'after' || side === 'before') && typeof name === 'string')
      return { side, name };
  } catch {
    // What cannot be read is told below.
  }
  const errors = [{ pointer: '/cursor', detail: 'It is no cursor of this list.' }];
  throw sumiError('cursor-unreadable', { cursor: text.slice(0, 40), errors });
}

/** Version 4. */
function newUuid(random: (bytes: number) => Buffer): string {
  const bytes = random(16);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = bytes.toString('hex');
  return [
    ...[digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16)],
    ...[digits.slice(16, 20), digits.slice(20)],
  ].join('-');
}

/**
 * Runs in the service's care, from the moment that they are ordered to their end: one record a project, so that a project
 * is never begun twice, not even by two services on one store, and whoever starts after a crash knows what to go on with.
 * Every change is made only if nobody else made one meanwhile.
 */
import type { RecordPort, StoredRecord } from '../store/record-port.ts';
import type { RunOrder } from './phase.ts';

export interface Ticket {
  /** UUID. */
  project: string;
  order: RunOrder;
  /** Wall milliseconds: who came first goes first. */
  at: number;
  /** waiting: in the queue. begun: its service begins it, works on it, or has it paused. */
  state: 'waiting' | 'begun';
  /** The run that it became, or is to go on; null before. */
  run: number | null;
  /** Whose care it is in (services.ts). */
  service: string;
}

export interface HeldTicket extends Ticket {
  version: number;
}

export interface Tickets {
  /** Null: the project has one. */
  add(ticket: Ticket): Promise<HeldTicket | null>;
  /** Null: somebody else changed it. */
  change(held: HeldTicket, change: Partial<Ticket>): Promise<HeldTicket | null>;
  remove(held: Pick<HeldTicket, 'project'> & { version?: number }): Promise<boolean>;
  get(projectUid: string): Promise<HeldTicket | null>;
  /** The oldest first. */
  list(): Promise<HeldTicket[]>;
}

const MOST = 1000;

/** All of them together, so that the queue is read as one. */
const SCOPE = '';

export function createTickets(records: RecordPort): Tickets {
  const put = async ({ version, ...ticket }: HeldTicket): Promise<HeldTicket | null> => {
    const written = await records.put('queued-run', SCOPE, ticket.project, ticket, { ifVersion: version });
    return written === null ? null : { ...ticket, version: written };
  };
  return {
    add: (ticket) => put({ ...ticket, version: 0 }),
    change: (held, change) => put({ ...held, ...change }),
    remove: ({ project, version }) => records.remove('queued-run', SCOPE, project, version),
    async get(projectUid) {
      const found = await records.get<Ticket>('queued-run', SCOPE, projectUid);
      return found === null ? null : heldOf(found);
    },
    async list() {
      const all: HeldTicket[] = [];
      for (let after: string | undefined; ; ) {
        const some = await records.list<Ticket>({ kind: 'queued-run', scope: SCOPE, after, limit: MOST });
        all.push(...some.map(heldOf));
        if (some.length < MOST) break;
        after = some[some.length - 1].key;
      }
      return all.sort((a, b) => a.at - b.at || (a.project < b.project ? -1 : 1));
    },
  };
}

function heldOf({ value, version }: StoredRecord<Ticket>): HeldTicket {
  return { ...value, version };
}

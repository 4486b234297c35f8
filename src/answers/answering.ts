/** What every answer to a program is made of: the store's read side, the engine's verbs, the service's records. */
import type { Engine } from '../running/engine.ts';
import type { BodyStore } from '../store/bodies.ts';
import type { ReadSide } from '../store/read-side.ts';
import type { RecordPort } from '../store/record-port.ts';
import type { AskProject } from './project-questions.ts';
import type { SqlQueries } from './sql-queries.ts';

export interface Answering {
  /** On threads of its own, for questions only. */
  readonly side: ReadSide;
  readonly engine: Engine;
  readonly records: RecordPort;
  /** Null where the service keeps no bodies. */
  readonly bodies: BodyStore | null;
  readonly queries: SqlQueries;
  /** Computes for long, in threads of its own. */
  readonly askProject: AskProject;
  /** The address of the store for messages, without a password. */
  readonly storeLabel: string;
}

/** What the thread that reads and the one that asks say to each other. One question at a time. */
import type { TravellingError } from '../../primitives/travelling-error.ts';
import type { QuestionName } from '../question-names.ts';

/** `more` asks for the next rows of the question's stream, `drop` ends it. */
export type ToReader = { ask: QuestionName; args: unknown[] } | 'more' | 'drop' | 'close';

export type FromReader =
  | 'ready'
  | 'dropped'
  | { answer: unknown }
  | { rows: unknown[]; isLast: boolean }
  | { error: TravellingError };

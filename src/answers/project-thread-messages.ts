/** What the thread of a long question and whoever asked say to each other: 'more' for each piece. */
import type { TravellingError } from '../primitives/travelling-error.ts';
import type { ProjectRow } from '../store/read-side.ts';
import type { ProjectQuestion } from './project-questions.ts';

export interface ProjectThreadData {
  /** May hold a password: never shown. */
  address: string;
  storeLabel: string;
  project: ProjectRow;
  question: ProjectQuestion;
}

export type FromProjectThread = { piece: unknown } | { error: TravellingError } | 'over';

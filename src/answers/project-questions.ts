/**
 * Questions that read a whole project and then compute for long: they are answered in threads of their own, so that nobody else
 * waits for them. A thread has a read side of its own, and ends with its answer or with whoever asked.
 */
import type { Graph } from '../contract/site.ts';
import type { GraphExport } from '../project/export-link-graph.ts';
import type { ProjectRow } from '../store/read-side.ts';

export interface GraphQuestion {
  of?: Graph['of'];
  /** Nodes of the answer. */
  most?: number;
}

export type ProjectQuestion =
  | { ask: 'graph'; graph: GraphQuestion; now: number }
  | { ask: 'audit'; run: number | undefined }
  | { ask: 'graph-file'; of: GraphExport['of']; format: GraphExport['format']; table: 'edges' | 'nodes' };

/** In pieces: one object, or those of a file. Of several that wait, no `asker` holds up the others. */
export type AskProject = <Piece>(
  project: ProjectRow,
  question: ProjectQuestion,
  signal: AbortSignal,
  asker?: string,
) => AsyncGenerator<Piece>;

/** The only piece of an answer. */
export async function askOnce<Answer>(
  ask: AskProject,
  project: ProjectRow,
  question: ProjectQuestion,
  signal: AbortSignal,
): Promise<Answer> {
  for await (const answer of ask<Answer>(project, question, signal)) return answer;
  throw new Error(`the question ${question.ask} has no answer`);
}

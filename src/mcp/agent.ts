/** Who calls a tool, and what tools are made of. A tool reads its input, asks src/answers or the engine, and answers. */
import type { z } from 'zod';
import type { Answering } from '../answers/answering.ts';
import { findProject } from '../answers/find-project.ts';
import { sumiError } from '../errors.ts';
import type { EgressGuard } from '../fetch/egress.ts';
import type { ProjectRow } from '../store/read-side.ts';

export type AgentScope = 'read' | 'write' | 'admin';

/** Over standard input and output it is whoever started the process: everything is allowed. */
export interface AgentCaller {
  /** Tells callers apart, so that none holds up the others. */
  key: string;
  scopes: readonly AgentScope[];
  /** UUIDs; null: every project. */
  projects: readonly string[] | null;
}

export const OWNER: AgentCaller = { key: 'owner', scopes: ['admin'], projects: null };

export interface AgentParts extends Answering {
  readonly clock: { now(): number };
  readonly egress: EgressGuard;
  readonly limits: { maxPagesLimit: number; allowsIgnoringRobots: boolean };
  /** For the operator: defects of ours. */
  readonly log: (line: string) => void;
}

/** One call of a tool. */
export interface AgentCall {
  parts: AgentParts;
  caller: AgentCaller;
  /** Aborted when the client takes the call back or goes away. */
  signal: AbortSignal;
}

export interface AgentTool<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> {
  name: string;
  title: string;
  about: string;
  scope: 'read' | 'write';
  input: Input;
  output: Output;
  /** What a client may tell its user before the call. */
  hints: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; openWorldHint: boolean };
  run(input: z.infer<Input>, call: AgentCall): Promise<z.infer<Output>>;
}

/** Keeps the types of one tool together; a list of tools has tools of any kind. */
export function agentTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: AgentTool<Input, Output>,
): AgentTool {
  return tool as unknown as AgentTool;
}

export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

const INCLUDES: Readonly<Record<AgentScope, readonly AgentScope[]>> = {
  read: ['read'],
  write: ['read', 'write'],
  admin: ['read', 'write', 'admin'],
};

export function checkScope({ scopes }: AgentCaller, scope: AgentScope): void {
  if (!scopes.some((given) => INCLUDES[given].includes(scope))) throw sumiError('scope-missing', { scope });
}

/** What a caller may not see does not exist for it. */
export function maySee({ projects }: AgentCaller, projectId: string): boolean {
  return projects === null || projects.includes(projectId.toLowerCase());
}

export async function projectOf({ parts, caller }: AgentCall, id: string): Promise<ProjectRow> {
  if (!maySee(caller, id)) throw sumiError('project-unknown', { id });
  return await findProject(parts, id);
}

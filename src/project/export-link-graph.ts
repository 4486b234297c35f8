/** The link graph of a project, of its pages or of its domains, as the files of a format. */
import { sumiError } from '../errors.ts';
import { describeDomains } from '../graph/describe-domains.ts';
import { describePages } from '../graph/describe-pages.ts';
import { type ExportFormat, filesOf, type GraphFile } from '../graph/graph-files.ts';
import { readStoredOrigins } from '../graph/stored-origins.ts';
import { BYTE_ORDER_MARK } from '../primitives/csv-field.ts';
import type { Reading } from './reading.ts';

export { EXPORT_FORMATS } from '../graph/graph-files.ts';

const SUBJECTS = { pages: describePages, domains: describeDomains } as const;
export type GraphSubject = keyof typeof SUBJECTS;
export const GRAPH_SUBJECTS = Object.keys(SUBJECTS) as GraphSubject[];

export interface GraphExport {
  of: GraphSubject;
  format: ExportFormat;
  /** Begin CSV with a byte order mark. */
  bom?: boolean;
}

export interface ExportedGraph {
  nodes: number;
  edges: number;
  /** To be written in this order; pieces are made while they are read, so the store must stay open. */
  files: GraphFile[];
  /** How many origins were too many for a column each; null where the depths from all origins are there. */
  originsLeftOut: number | null;
}

export async function exportLinkGraph(
  reading: Reading,
  { of, format, bom }: GraphExport,
): Promise<ExportedGraph> {
  const { side } = reading;
  const project = await onlyProject(reading);
  const origins = await readStoredOrigins(side, project);
  const { graph, isDepthLeftOut } = await SUBJECTS[of](side, { project }, origins);
  const files = await filesOf(format, graph);
  return {
    nodes: graph.nodeCount,
    edges: graph.edgeCount,
    files: bom === true ? files.map(withBom) : files,
    originsLeftOut: isDepthLeftOut ? origins.names.length : null,
  };
}

/** Two projects may know the same pages, each in its own state: as one graph they would be neither. */
export async function onlyProject({ side, project, storeLabel }: Reading): Promise<string | undefined> {
  if (project !== undefined) return project;
  const projects = (await side.projects()).map((row) => row.project);
  if (projects.length > 1)
    throw sumiError('several-projects', {
      file: storeLabel,
      known: projects.map((name) => `"${name}"`).join(', '),
    });
  return projects[0];
}

function withBom({ holds, pieces }: GraphFile): GraphFile {
  async function* marked() {
    yield BYTE_ORDER_MARK;
    yield* pieces;
  }
  return { holds, pieces: marked() };
}

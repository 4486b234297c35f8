/** A store that is open for questions, perhaps of one project only: what every use case that reads is given. */
import { sumiError } from '../errors.ts';
import { storeLabel } from '../primitives/store-address.ts';
import { openReadSide } from '../store/open-store.ts';
import type { ProjectRow, ReadSide } from '../store/read-side.ts';

export interface Reading {
  readonly side: ReadSide;
  /** The address of the store for messages, without a password. */
  readonly storeLabel: string;
  /** The project that was asked for, which exists; undefined for all. */
  readonly project: string | undefined;
}

export interface OpenReading extends Reading {
  close(): Promise<void>;
}

/** `address`: the path of an SQLite file, or postgres://…. A project that is not there is an error. */
export async function openReading(address: string, project?: string | null): Promise<OpenReading> {
  const side = await openReadSide(address);
  const label = storeLabel(address);
  const named = project ?? undefined;
  try {
    if (named !== undefined) await requireProject(side, named, label);
  } catch (error) {
    await side.close();
    throw error;
  }
  return { side, storeLabel: label, project: named, close: () => side.close() };
}

export async function requireProject(
  side: Pick<ReadSide, 'projects'>,
  project: string,
  file: string,
): Promise<ProjectRow> {
  const projects = await side.projects();
  const found = projects.find((row) => row.project === project);
  if (found !== undefined) return found;
  const known = projects.map((row) => `"${row.project}"`).join(', ') || 'none';
  throw sumiError('unknown-project', { project, file, known });
}

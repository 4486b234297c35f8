/** The use cases of src/project over what a service has open: of one project, which is there. */
import type { Reading } from '../project/reading.ts';
import type { ProjectRow } from '../store/read-side.ts';
import type { Answering } from './answering.ts';

export function readingOf({ side }: Pick<Answering, 'side'>, project: ProjectRow): Reading {
  return { side, storeLabel: labelOf(project), project: project.project };
}

/** In the place of the store in messages: where it is kept is nothing that programs are told. */
export const labelOf = ({ uid }: Pick<ProjectRow, 'uid'>) => `the project ${uid}`;

/** No store gives higher ones. */
export const HIGHEST_RUN = 2 ** 31 - 1;

/** In addresses a run is a text: what is no number of a run is no run. */
export function runNumberOf(text: string): number | null {
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= HIGHEST_RUN ? Number(text) : null;
}

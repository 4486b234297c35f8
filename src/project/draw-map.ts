/** A stored map as its numbers, and as a page to look at. Reads the store, never a site. */
import { sumiError } from '../errors.ts';
import type { LinkGraph } from '../graph/link-graph.ts';
import type { TerrainSurvey } from '../graph/survey-terrain.ts';
import { type ReadTerrain, readTerrainFigures } from '../graph/terrain-figures.ts';
import type { MapSubject } from '../pages/map/terrain-map.ts';
import { type Reading, requireProject } from './reading.ts';

/** `graph`: the map's, where it was read already. `now`: wall time. Without a map in the project it is an error. */
export async function readMap(
  { side, storeLabel: file }: Reading,
  project: string,
  now: number,
  graph?: LinkGraph,
): Promise<ReadTerrain> {
  const row = await requireProject(side, project, file);
  const read = await readTerrainFigures(side, row, now, graph);
  if (read === null) throw sumiError('no-map', { project, file });
  return read;
}

export interface MapDrawing {
  /** Where it was read already. */
  survey?: TerrainSurvey;
  /** What the dots are; undefined: what suits the project. */
  subject?: MapSubject;
  /** Wall time. */
  now: number;
}

export interface DrawnMap {
  page: string;
  /** How many of the subject it shows. */
  drawn: number;
  subject: MapSubject;
}

/** Only who asks for the page loads what draws it. */
export async function drawMap({ side, project }: Reading, drawing: MapDrawing): Promise<DrawnMap> {
  const { readTerrainMap } = await import('../graph/read-terrain-map.ts');
  const { renderMapPage } = await import('../pages/map/render-map-page.ts');
  const map = await readTerrainMap(side, { project, ...drawing });
  return { page: await renderMapPage(map), drawn: map.domains.length, subject: map.subject ?? 'domains' };
}

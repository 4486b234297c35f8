/** What a stored map is turned into: its numbers, the Markdown summary, the page to look at. Reads the store, never a site. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Config } from '../config/load-config.ts';
import { PROGRAM_VERSION } from '../config/program.ts';
import { sumiError } from '../errors.ts';
import type { OutputFile } from '../export/write-files.ts';
import type { LinkGraph } from '../graph/link-graph.ts';
import type { TerrainSurvey } from '../graph/survey-terrain.ts';
import { type ReadTerrain, readTerrainFigures } from '../graph/terrain-figures.ts';
import type { MapSubject } from '../pages/map/terrain-map.ts';
import { requireProject } from '../project/reading.ts';
import { renderTerrainSummary } from '../render/terrain-summary.ts';
import { openReadSide } from '../store/open-store.ts';
import type { ReadSide } from '../store/read-side.ts';
import { writeOutputFiles } from './write-output.ts';

export interface MapOutputs {
  /** Null: not asked for. */
  summaryPath: string | null;
  htmlPath: string | null;
}

/** Writes what is asked for, whole or not at all, and gives back the numbers. `graph`: the map's, where it was read already. */
export async function drawMap(
  config: Pick<Config, 'storeAddress' | 'storeLabel'>,
  project: string,
  outputs: MapOutputs,
  graph?: LinkGraph,
): Promise<ReadTerrain['figures']> {
  const side = await openReadSide(config.storeAddress);
  try {
    const { figures, survey } = await readTerrain(side, project, config.storeLabel, graph);
    const files: OutputFile[] = [];
    if (outputs.summaryPath !== null)
      files.push({
        path: outputs.summaryPath,
        pieces: oneOf(renderTerrainSummary(figures, PROGRAM_VERSION)),
      });
    if (outputs.htmlPath !== null)
      files.push({ path: outputs.htmlPath, pieces: oneOf((await drawPage(side, project, survey)).page) });
    if (files.length > 0) await writeOutputFiles(files);
    return figures;
  } finally {
    await side.close();
  }
}

/** The page itself, what it shows and how many of it; `subject` undefined: what suits the project. Only who asks for it loads what draws it. */
export async function drawPage(
  side: ReadSide,
  project: string | undefined,
  survey?: TerrainSurvey,
  subject?: MapSubject,
): Promise<{ page: string; drawn: number; subject: MapSubject }> {
  const { readTerrainMap } = await import('../graph/read-terrain-map.ts');
  const { renderMapPage } = await import('../pages/map/render-map-page.ts');
  const map = await readTerrainMap(side, { project, survey, subject, now: Date.now() });
  return {
    page: await renderMapPage(map),
    drawn: map.domains.length,
    subject: map.subject ?? 'domains',
  };
}

async function readTerrain(
  side: ReadSide,
  project: string,
  file: string,
  graph: LinkGraph | undefined,
): Promise<ReadTerrain> {
  const row = await requireProject(side, project, file);
  const read = await readTerrainFigures(side, row, Date.now(), graph);
  if (read === null) throw sumiError('no-map', { project, file });
  return read;
}

export async function* oneOf(text: string): AsyncGenerator<string> {
  yield text;
}

/** Before hours of crawling, not after them. */
export async function refuseUnwritable({ summaryPath, htmlPath }: MapOutputs): Promise<void> {
  for (const file of [summaryPath, htmlPath]) {
    if (file === null) continue;
    const reason = await whyUnwritable(file);
    if (reason !== null) throw sumiError('export-unwritable', { file, reason });
  }
}

async function whyUnwritable(file: string): Promise<string | null> {
  const folder = await stat(dirname(file)).catch(() => null);
  if (folder === null) return 'its folder does not exist';
  if (!folder.isDirectory()) return 'its folder is no directory';
  const found = await stat(file).catch(() => null);
  if (found?.isDirectory()) return 'it is a directory';
  // A device or a pipe is written to as it is; a file is replaced, which is its folder's matter.
  const target = found === null || found.isFile() ? dirname(file) : file;
  const mayWrite = await access(target, constants.W_OK).then(
    () => true,
    () => false,
  );
  return mayWrite ? null : 'this user may not write there';
}

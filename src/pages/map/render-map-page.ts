/**
 * Writes the map as one page that opens from disk. Names, titles and URLs come from the web: they reach the page as
 * JSON, and the page's script makes text of them, never markup.
 */
import { fillPage } from '../self-contained-page.ts';
import { type MapLimits, toPageData } from './page-data.ts';
import { pageParts } from './page-parts.ts';
import type { TerrainMap } from './terrain-map.ts';

export async function renderMapPage(map: TerrainMap, limits?: MapLimits): Promise<string> {
  return fillPage(await pageParts(), { title: map.title, data: toPageData(map, limits) });
}

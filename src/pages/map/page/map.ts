/**
 * The script of the map page: reads the data in the page and connects its parts. Never sends a request, stores nothing,
 * and keeps nothing where other scripts could reach it.
 */
import type { PageData } from '../page-data.ts';
import { openDetails } from './details.ts';
import { openTable } from './domain-table.ts';
import { byId } from './element.ts';
import { openFilters } from './filter-form.ts';
import { openSearch } from './search-box.ts';
import { openStage } from './stage.ts';
import { readTerrain } from './terrain.ts';
import { createView } from './view.ts';
import { formatCount, nodesOf, nodeWord, speakOf } from './words.ts';

const data = JSON.parse(byId('data').textContent) as PageData;
speakOf(data.subject);
nameSubject();
const terrain = readTerrain(data);
const view = createView(terrain);

byId('about').textContent = about(data);
openFilters(terrain, view);
const stage = openStage(terrain, view);
const table = openTable(terrain, view, choose);
openSearch(terrain, choose);
openDetails(terrain, view, choose);
view.onChange((change) => {
  if (change === 'selection' && view.selected >= 0) table.show(view.selected);
});

/** The markup says "domains"; sections and pages need other words. */
function nameSubject(): void {
  if (data.subject === 'domains') return;
  const [one, many] = [nodeWord(), nodeWord(2)];
  const query = byId<HTMLInputElement>('query');
  query.placeholder = query.placeholder.replace('domains', many);
  byId('query-label').textContent = `Search ${many} and page titles`;
  byId('skip').textContent = `Go to the table of ${many}`;
  byId('map').setAttribute('aria-label', `Map of ${many}`);
  byId('details').setAttribute('aria-label', `Selected ${one}`);
  byId('map-keys').textContent = byId('map-keys').textContent.replace('domain', one);
  byId('links-main').textContent = `each ${one}’s heaviest two`;
}

/** From the table, the search or a list of links: the domain may be outside of the view. */
function choose(at: number): void {
  view.select(at);
  stage.show(at);
}

function about({ project, run, generatedAt, total, names, from }: PageData): string {
  const parts = [`project ${project}`];
  if (run !== null) parts.push(`run ${run}`);
  parts.push(`drawn ${generatedAt.slice(0, 16).replace('T', ' ')} UTC`);
  if (total.domains > names.length)
    parts.push(`the largest ${formatCount(names.length)} of ${nodesOf(total.domains)}`);
  if (total.links > from.length)
    parts.push(`the heaviest ${formatCount(from.length)} of ${formatCount(total.links)} links`);
  return parts.join(' · ');
}

/** The filters, which are also the legend: each class with its sign, its meaning and its number. */
import { DOMAIN_CLASSES } from '../terrain-map.ts';
import { byId, element } from './element.ts';
import type { Terrain } from './terrain.ts';
import type { LinkMode, View } from './view.ts';
import { classGlyph, classMeaning, classWord, formatCount, nodesOf } from './words.ts';

export function openFilters(terrain: Terrain, view: View): void {
  const { data } = terrain;
  const depth = byId<HTMLInputElement>('depth');
  const origin = byId<HTMLSelectElement>('origin');
  const links = byId<HTMLSelectElement>('links');
  const onlyLinked = byId<HTMLInputElement>('only-linked');
  const boxes = DOMAIN_CLASSES.map((_, place) => classBox(terrain, place));

  byId('classes').append(...boxes.map(({ label }) => label));
  depth.max = String(terrain.maxDepth);
  byId('depth-line').hidden = terrain.maxDepth === 0;
  origin.append(element('option', { value: '-1' }, 'the nearest origin'));
  for (const [place, name] of data.origins.entries()) {
    origin.append(element('option', { value: String(place) }, name));
  }
  byId('origin-line').hidden = data.origins.length < 2;

  function refresh(): void {
    const { filters, selected } = view;
    for (const [place, { box }] of boxes.entries()) box.checked = filters.classes[place];
    depth.value = String(filters.maxDepth);
    const shown = filters.maxDepth >= terrain.maxDepth ? 'any' : `up to ${filters.maxDepth}`;
    byId('depth-shown').textContent = shown;
    depth.setAttribute('aria-valuetext', shown);
    origin.value = String(filters.origin);
    links.value = filters.links;
    onlyLinked.checked = filters.onlyLinked;
    onlyLinked.disabled = selected < 0;
    byId('counts').textContent =
      `${formatCount(view.shown)} of ${nodesOf(terrain.count)}, ` +
      `${formatCount(view.shownLinks)} of ${formatCount(data.from.length)} links`;
  }

  for (const [place, { box }] of boxes.entries()) {
    box.addEventListener('change', () => {
      view.filter({ classes: view.filters.classes.map((old, at) => (at === place ? box.checked : old)) });
    });
  }
  depth.addEventListener('input', () => view.filter({ maxDepth: Number(depth.value) }));
  origin.addEventListener('change', () => view.filter({ origin: Number(origin.value) }));
  links.addEventListener('change', () => view.filter({ links: links.value as LinkMode }));
  onlyLinked.addEventListener('change', () => view.filter({ onlyLinked: onlyLinked.checked }));
  byId('filters').addEventListener('submit', (event) => event.preventDefault());
  view.onChange((change) => {
    if (change !== 'hover') refresh();
  });
  refresh();
}

function classBox({ data }: Terrain, place: number): { label: HTMLElement; box: HTMLInputElement } {
  const count = data.classes.reduce((sum, other) => sum + Number(other === place), 0);
  const box = element('input', { type: 'checkbox', name: DOMAIN_CLASSES[place] });
  const attributes = { class: 'check', title: classMeaning(place) };
  const label = element(
    'label',
    // Some classes are always empty for a single site.
    count === 0 && data.subject !== 'domains' ? { ...attributes, hidden: '' } : attributes,
    box,
    classGlyph(place),
    element('span', {}, classWord(place)),
    element('span', { class: 'soft' }, formatCount(count)),
  );
  return { label, box };
}

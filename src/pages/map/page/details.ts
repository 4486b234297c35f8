/**
 * The known facts of the selected domain: numbers, depth from each origin, who links here, what it links to, its pages.
 */
import { byId, type Child, element } from './element.ts';
import type { Terrain } from './terrain.ts';
import type { View } from './view.ts';
import {
  classGlyph,
  classMeaning,
  classWord,
  countOf,
  formatCount,
  formatDepth,
  formatRank,
  nodesOf,
} from './words.ts';

/** A longer list belongs into an export. */
const MOST = 40;

export function openDetails(terrain: Terrain, view: View, onChoose: (at: number) => void): void {
  const { data } = terrain;
  const panel = byId('details');

  function show(at: number): void {
    const close = element(
      'button',
      { type: 'button', class: 'close', 'aria-label': 'Drop the selection' },
      '×',
    );
    close.addEventListener('click', () => view.select(-1));
    const place = data.classes[at];
    panel.replaceChildren(
      close,
      element('h2', { dir: 'auto' }, classGlyph(place), element('span', {}, data.names[at])),
      element('p', { class: 'soft' }, `${classWord(place)}: ${classMeaning(place)}`),
      facts(at),
      ...origins(at),
      element(
        'div',
        { class: 'both' },
        linkList('Linked from', 'incoming', terrain.incoming(at), data.from, data.indegree[at]),
        linkList('Links to', 'outgoing', terrain.outgoing(at), data.to, data.outdegree[at]),
      ),
      ...pages(at),
    );
    panel.scrollTop = 0;
  }

  function facts(at: number): HTMLElement {
    const counts: [string, string][] = [
      ['Known URLs', formatCount(data.pages[at])],
      ['Read', formatCount(data.processed[at])],
      ['Errors', formatCount(data.errors[at])],
    ];
    const rows: [string, string][] = [
      ...(data.subject === 'pages' ? [] : counts),
      ['Least depth', formatDepth(data.depth[at])],
      ['PageRank', `${formatRank(data.pagerank[at])} %`],
    ];
    if (data.references[at] > 0) rows.push(['References', formatCount(data.references[at])]);
    return element(
      'dl',
      {},
      ...rows.flatMap(([term, value]) => [element('dt', {}, term), element('dd', {}, value)]),
    );
  }

  function origins(at: number): Child[] {
    const pairs = data.depths[at];
    if (pairs.length < 4) return [];
    const list = element('ul');
    for (let i = 0; i < Math.min(pairs.length, 2 * MOST); i += 2) {
      const name = element('span', { dir: 'auto' }, data.origins[pairs[i]]);
      list.append(element('li', {}, name, element('span', { class: 'soft' }, String(pairs[i + 1]))));
    }
    return [element('h3', {}, 'Depth from each origin'), list];
  }

  function linkList(
    heading: string,
    kind: string,
    links: Int32Array,
    ends: readonly number[],
    degree: number,
  ): HTMLElement {
    const list = element('ul');
    for (const link of links.subarray(0, MOST)) {
      const other = ends[link];
      const button = element('button', { type: 'button', class: 'goes', dir: 'auto' }, data.names[other]);
      button.addEventListener('click', () => onChoose(other));
      const weight = element('span', { class: 'soft', title: countOf(data.weight[link], 'link') });
      weight.textContent = formatCount(data.weight[link]);
      list.append(element('li', {}, button, weight));
    }
    const left = degree - Math.min(links.length, MOST);
    if (left > 0)
      list.append(element('li', { class: 'soft' }, element('span', {}, `and ${formatCount(left)} more`)));
    const mark = element('span', { class: `mark ${kind}` });
    const title = element('h3', {}, mark, `${heading} ${nodesOf(degree)}`);
    return element('div', { class: kind }, title, list);
  }

  function pages(at: number): Child[] {
    if (data.topPages[at].length === 0) return [];
    const list = element('ul');
    for (const [url, title, status] of data.topPages[at]) {
      const text = title === null || title.trim() === '' ? url : title;
      const attributes = { title: url, dir: 'auto' };
      // Any other scheme could be a script: it stays text.
      const page = /^https?:\/\//i.test(url)
        ? element('a', { ...attributes, href: url, target: '_blank', rel: 'noopener noreferrer' }, text)
        : element('span', attributes, text);
      list.append(
        element('li', {}, page, element('span', { class: 'soft' }, status === null ? '' : String(status))),
      );
    }
    return [element('h3', {}, data.subject === 'pages' ? 'Page and status' : 'Pages most linked to'), list];
  }

  view.onChange((change) => {
    if (change !== 'selection') return;
    panel.hidden = view.selected < 0;
    if (view.selected >= 0) show(view.selected);
    else panel.replaceChildren();
  });
}

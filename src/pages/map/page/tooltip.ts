/** The facts of the domain under the pointer, beside it and inside the map. */
import type { Camera } from './camera.ts';
import { byId, element } from './element.ts';
import type { Terrain } from './terrain.ts';
import { classWord, countOf, nodesOf } from './words.ts';

export function createTooltip({ data }: Terrain, camera: Camera) {
  const box = byId('tooltip');
  let shown = -1;

  function fill(at: number): void {
    const depth = data.depth[at] < 0 ? 'depth unknown' : `depth ${data.depth[at]}`;
    const isVisited = data.classes[at] < 2;
    const isPage = data.subject === 'pages';
    box.replaceChildren(
      element('strong', { dir: 'auto' }, data.names[at]),
      ...(isPage && data.topPages[at][0]?.[1]
        ? [element('p', { dir: 'auto' }, data.topPages[at][0][1])]
        : []),
      element('p', {}, `${classWord(data.classes[at])}, ${depth}`),
      ...(isPage ? [] : [element('p', {}, figures(at, isVisited))]),
      element('p', {}, `linked from ${nodesOf(data.indegree[at])}, links to ${nodesOf(data.outdegree[at])}`),
    );
  }

  function figures(at: number, isVisited: boolean): string {
    const pages = countOf(data.pages[at], 'known URL');
    return isVisited
      ? `${pages}, ${countOf(data.errors[at], 'error')}`
      : `${pages}, referred to ${countOf(data.references[at], 'time')}`;
  }

  return {
    show(at: number, x: number, y: number): void {
      if (at !== shown && at >= 0) fill(at);
      shown = at;
      box.hidden = at < 0;
      if (at < 0) return;
      const { offsetWidth, offsetHeight } = box;
      const left = x + 16 + offsetWidth > camera.width ? x - 16 - offsetWidth : x + 16;
      const top = y + 16 + offsetHeight > camera.height ? y - 16 - offsetHeight : y + 16;
      box.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
    },
    hide(): void {
      shown = -1;
      box.hidden = true;
    },
  };
}

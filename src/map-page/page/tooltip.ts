/** The facts of the domain under the pointer, beside it and inside the map. */
import type { Camera } from './camera.ts';
import { byId, element } from './element.ts';
import type { Terrain } from './terrain.ts';
import { classWord, countOf } from './words.ts';

export function createTooltip({ data }: Terrain, camera: Camera) {
  const box = byId('tooltip');
  let shown = -1;

  function fill(at: number): void {
    const depth = data.depth[at] < 0 ? 'depth unknown' : `depth ${data.depth[at]}`;
    const isVisited = ['quality', 'discovered'].includes(classWord(data.classes[at]));
    box.replaceChildren(
      element('strong', { dir: 'auto' }, data.names[at]),
      element('p', {}, `${classWord(data.classes[at])}, ${depth}`),
      element(
        'p',
        {},
        isVisited
          ? `${countOf(data.pages[at], 'known URL')}, ${countOf(data.errors[at], 'error')}`
          : `${countOf(data.pages[at], 'known URL')}, referred to ${countOf(data.references[at], 'time')}`,
      ),
      element(
        'p',
        {},
        `linked from ${countOf(data.indegree[at], 'domain')}, links to ${countOf(data.outdegree[at], 'domain')}`,
      ),
    );
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

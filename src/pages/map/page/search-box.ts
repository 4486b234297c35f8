/** Finds domains by a part of their name or of a page's title. Arrows move through the results, Enter goes there. */
import { byId, element } from './element.ts';
import type { Terrain } from './terrain.ts';
import { classGlyph, classWord, countOf } from './words.ts';

const MOST = 8;

interface Found {
  at: number;
  /** The page that was found, if it was not the name. */
  title?: string;
}

export function openSearch(terrain: Terrain, onChoose: (at: number) => void): void {
  const { data } = terrain;
  const input = byId<HTMLInputElement>('query');
  const list = byId('found');
  const find = createFinder(terrain);
  let found: Found[] = [];
  let active = 0;

  function close(): void {
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  }

  function choose(place: number): void {
    const one = found[place];
    if (one === undefined) return;
    input.value = data.names[one.at];
    close();
    onChoose(one.at);
  }

  function highlight(): void {
    for (const [place, option] of [...list.children].entries()) {
      option.setAttribute('aria-selected', String(place === active && found.length > 0));
    }
    if (found.length > 0) input.setAttribute('aria-activedescendant', `found-${active}`);
    else input.removeAttribute('aria-activedescendant');
  }

  function look(): void {
    const query = input.value.trim().toLowerCase();
    if (query === '') {
      close();
      return;
    }
    found = find(query);
    active = 0;
    list.replaceChildren(...found.map(toOption));
    if (found.length === 0) {
      list.append(
        element('div', { class: 'nothing', role: 'option', 'aria-disabled': 'true' }, 'Nothing found'),
      );
    }
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    highlight();
  }

  function toOption({ at, title }: Found, place: number): HTMLElement {
    const option = element(
      'div',
      { id: `found-${place}`, role: 'option' },
      classGlyph(data.classes[at]),
      element('span', { class: 'name', dir: 'auto' }, data.names[at]),
      element(
        'span',
        { class: 'soft' },
        `${classWord(data.classes[at])}, ${countOf(data.pages[at], 'page')}`,
      ),
    );
    if (title !== undefined) option.append(element('span', { class: 'title', dir: 'auto' }, title));
    // Not click: the field would lose the focus before it.
    option.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      choose(place);
    });
    return option;
  }

  input.addEventListener('input', look);
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter') choose(list.hidden ? -1 : active);
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (list.hidden) look();
      else if (found.length > 0) {
        active = (active + (event.key === 'ArrowDown' ? 1 : found.length - 1)) % found.length;
      }
      highlight();
    } else return;
    event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    const target = event.target as Element;
    if (event.key !== '/' || event.ctrlKey || event.metaKey || target.matches('input[type="search"], select'))
      return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

/** Names that begin with the words come first, then names that contain them, then titles; the larger before the smaller. */
function createFinder({ data }: Terrain): (query: string) => Found[] {
  const names = data.names.map((name) => name.toLowerCase());
  const bySize = data.pages.map((_, at) => at).sort((a, b) => data.pages[b] - data.pages[a] || a - b);
  return (query) => {
    const begins: Found[] = [];
    const contains: Found[] = [];
    const titles: Found[] = [];
    for (const at of bySize) {
      const place = names[at].indexOf(query);
      if (place === 0) begins.push({ at });
      else if (place > 0) contains.push({ at });
      else if (titles.length < MOST) {
        const page = data.topPages[at].find(([, title]) => title?.toLowerCase().includes(query));
        if (page !== undefined) titles.push({ at, title: page[1]! });
      }
      if (begins.length === MOST) break;
    }
    return [...begins, ...contains, ...titles].slice(0, MOST);
  };
}

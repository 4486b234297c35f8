/**
 * What the map currently shows: filters, selection, and the domain under the pointer. This is the only state that the
 * parts of the page share; each part is told what kind of thing changed, and asks for the rest.
 */
import { DOMAIN_CLASSES } from '../terrain-map.ts';
import type { Terrain } from './terrain.ts';

export type LinkMode = 'main' | 'all' | 'none';
export type ViewChange = 'filters' | 'selection' | 'hover';

export interface Filters {
  classes: boolean[];
  maxDepth: number;
  /** The origin of depth; -1: the nearest. */
  origin: number;
  onlyLinked: boolean;
  links: LinkMode;
}

export interface View {
  readonly filters: Readonly<Filters>;
  readonly selected: number;
  readonly hovered: number;
  /** 1 for every domain that is shown. */
  readonly visible: Uint8Array;
  readonly shown: number;
  /** Links whose both ends are shown, drawn or not. */
  readonly shownLinks: number;
  filter(change: Partial<Filters>): void;
  select(at: number): void;
  hover(at: number): void;
  onChange(listener: (change: ViewChange) => void): void;
}

/** With more links the picture is grey all over: only the heaviest are drawn until the reader asks for all. */
const ALL_AT_MOST = 1_000;

export function createView(terrain: Terrain): View {
  const { data, count } = terrain;
  const listeners: ((change: ViewChange) => void)[] = [];
  const visible = new Uint8Array(count).fill(1);
  let filters: Filters = {
    classes: DOMAIN_CLASSES.map(() => true),
    maxDepth: terrain.maxDepth,
    origin: -1,
    onlyLinked: false,
    links: data.from.length > ALL_AT_MOST ? 'main' : 'all',
  };
  let selected = -1;
  let hovered = -1;
  let shown = count;
  let shownLinks = data.from.length;

  function passes(at: number): boolean {
    if (!filters.classes[data.classes[at]]) return false;
    const depth = terrain.depthFrom(at, filters.origin);
    // Depth unknown: at the end of the slider everything is shown, unless one origin is selected.
    if (depth < 0) return filters.origin < 0 && filters.maxDepth >= terrain.maxDepth;
    return depth <= filters.maxDepth;
  }

  function refresh(): void {
    for (let at = 0; at < count; at++) visible[at] = passes(at) ? 1 : 0;
    if (selected >= 0 && visible[selected] === 0) selected = -1;
    if (selected < 0) filters = { ...filters, onlyLinked: false };
    if (filters.onlyLinked) {
      const isNear = new Uint8Array(count);
      isNear[selected] = 1;
      for (const link of terrain.outgoing(selected)) isNear[data.to[link]] = 1;
      for (const link of terrain.incoming(selected)) isNear[data.from[link]] = 1;
      for (let at = 0; at < count; at++) visible[at] &= isNear[at];
    }
    shown = visible.reduce((sum, one) => sum + one, 0);
    shownLinks = 0;
    for (let i = 0; i < data.from.length; i++) shownLinks += visible[data.from[i]] & visible[data.to[i]];
  }

  function tell(change: ViewChange): void {
    for (const listener of listeners) listener(change);
  }

  return {
    get filters() {
      return filters;
    },
    get selected() {
      return selected;
    },
    get hovered() {
      return hovered;
    },
    visible,
    get shown() {
      return shown;
    },
    get shownLinks() {
      return shownLinks;
    },
    filter(change) {
      const before = selected;
      filters = { ...filters, ...change };
      refresh();
      tell('filters');
      if (selected !== before) tell('selection');
    },
    select(at) {
      if (at === selected) return;
      selected = at;
      // The search may find a domain that is filtered out. With "only linked", the neighbours are others now.
      if (filters.onlyLinked || (at >= 0 && visible[at] === 0)) {
        if (at >= 0 && !passes(at)) filters = { ...filters, ...everything(terrain, filters) };
        refresh();
        tell('filters');
      }
      tell('selection');
    },
    hover(at) {
      if (at === hovered) return;
      hovered = at;
      tell('hover');
    },
    onChange: (listener) => listeners.push(listener),
  };
}

/** The filters that hide nothing. */
function everything(terrain: Terrain, { classes }: Filters): Partial<Filters> {
  return { classes: classes.map(() => true), maxDepth: terrain.maxDepth, origin: -1 };
}

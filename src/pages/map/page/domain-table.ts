/**
 * Every shown domain as a row: sorted by any column, with only the visible rows in the document, so that 5,000 are as
 * fast as 50. The table keeps the focus; arrows move through the rows, Enter selects.
 */
import { byId, element } from './element.ts';
import type { Terrain } from './terrain.ts';
import type { View } from './view.ts';
import { capital, classGlyph, classWord, formatCount, formatDepth, formatRank, nodeWord } from './words.ts';

const ROW_PX = 28;
const SPARE = 6;

interface Column {
  name: string;
  hint: string;
  text(at: number): string;
  compare(a: number, b: number): number;
  /** Numbers are sorted from the largest. */
  isNumber: boolean;
}

function toColumns({ data }: Terrain): Column[] {
  const many = nodeWord(2);
  const number = (name: string, hint: string, values: readonly number[], format = formatCount): Column => ({
    name,
    hint,
    text: (at) => format(values[at]),
    compare: (a, b) => values[a] - values[b],
    isNumber: true,
  });
  const domain: Column = {
    name: capital(nodeWord()),
    hint: `${capital(nodeWord())}, by name`,
    text: (at) => data.names[at],
    compare: (a, b) => (data.names[a] < data.names[b] ? -1 : data.names[a] > data.names[b] ? 1 : 0),
    isNumber: false,
  };
  const statuses = data.topPages.map(([top]) => top?.[2] ?? 0);
  return [
    domain,
    number('Depth', 'Least depth over all origins', data.depth, formatDepth),
    ...(data.subject === 'pages'
      ? [number('Status', 'HTTP status of the last answer', statuses, formatStatus)]
      : [number('Pages', 'Known pages', data.pages)]),
    number('In', `${capital(many)} that link here`, data.indegree),
    number('Out', `${capital(many)} linked from here`, data.outdegree),
    number('Rank %', `PageRank among ${many}, in percent`, data.pagerank, formatRank),
  ];
}

const formatStatus = (status: number): string => (status === 0 ? '–' : String(status));

export interface DomainTable {
  show(at: number): void;
}

export function openTable(terrain: Terrain, view: View, onChoose: (at: number) => void): DomainTable {
  const { data } = terrain;
  const grid = byId('table');
  const columns = toColumns(terrain);
  const rows = element('div', { class: 'rows', role: 'rowgroup' });
  const none = element('p', { class: 'none', hidden: '' }, `No ${nodeWord()} passes these filters.`);
  const pool: HTMLElement[] = [];
  let order: number[] = [];
  let sortedBy = 2;
  let isUp = false;
  let active = 0;

  function sort(): void {
    const { compare } = columns[sortedBy];
    const sign = isUp ? 1 : -1;
    order = [];
    for (let at = 0; at < terrain.count; at++) if (view.visible[at] === 1) order.push(at);
    order.sort((a, b) => sign * compare(a, b) || columns[0].compare(a, b));
    active = Math.max(0, order.indexOf(view.selected));
    grid.setAttribute('aria-rowcount', String(order.length + 1));
    rows.style.height = `${order.length * ROW_PX}px`;
    none.hidden = order.length > 0;
    for (const [place, header] of headers.entries()) {
      header.setAttribute('aria-sort', place !== sortedBy ? 'none' : isUp ? 'ascending' : 'descending');
    }
    render();
  }

  function render(): void {
    const first = Math.max(0, Math.floor(grid.scrollTop / ROW_PX) - SPARE);
    const last = Math.min(order.length, Math.ceil((grid.scrollTop + grid.clientHeight) / ROW_PX) + SPARE);
    for (let i = 0; i < Math.max(last - first, pool.length); i++) {
      pool[i] ??= rows.appendChild(emptyRow(columns.length));
      if (first + i < last) fill(pool[i], first + i);
      else pool[i].hidden = true;
    }
    const isThere = active >= first && active < last;
    if (isThere) grid.setAttribute('aria-activedescendant', `row-${active}`);
    else grid.removeAttribute('aria-activedescendant');
  }

  function fill(row: HTMLElement, place: number): void {
    const at = order[place];
    row.hidden = false;
    row.id = `row-${place}`;
    row.dataset.place = String(place);
    row.setAttribute('aria-rowindex', String(place + 2));
    row.setAttribute('aria-selected', String(at === view.selected));
    row.classList.toggle('is-active', place === active && document.activeElement === grid);
    row.style.top = `${place * ROW_PX}px`;
    const [glyph, ...cells] = row.children;
    glyph.replaceChildren(classGlyph(data.classes[at]));
    glyph.setAttribute('aria-label', classWord(data.classes[at]));
    for (const [i, cell] of cells.entries()) cell.textContent = columns[i].text(at);
    cells[0].setAttribute('title', data.names[at]);
  }

  function reveal(place: number): void {
    const top = place * ROW_PX;
    const seen = grid.clientHeight - 2 * ROW_PX;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top > grid.scrollTop + seen) grid.scrollTop = top - seen;
    render();
  }

  const headers = columns.map((column, place) => {
    const button = element('button', { type: 'button', title: column.hint }, column.name);
    button.addEventListener('click', () => {
      isUp = place === sortedBy ? !isUp : !column.isNumber;
      sortedBy = place;
      sort();
      reveal(active);
    });
    return element('div', { role: 'columnheader', class: column.isNumber ? 'number' : '' }, button);
  });
  const corner = element('div', { role: 'columnheader', 'aria-label': 'Class' });
  const head = element('div', { role: 'row', 'aria-rowindex': '1' }, corner, ...headers);
  grid.append(element('div', { class: 'head', role: 'rowgroup' }, head), rows, none);
  for (const [name, value] of Object.entries({
    role: 'grid',
    tabindex: '0',
    'aria-label': capital(nodeWord(2)),
    'aria-readonly': 'true',
  })) {
    grid.setAttribute(name, value);
  }
  grid.setAttribute('aria-colcount', String(columns.length + 1));

  grid.addEventListener('scroll', render, { passive: true });
  grid.addEventListener('focus', render);
  grid.addEventListener('blur', render);
  rows.addEventListener('click', ({ target }) => {
    const place = (target as Element).closest<HTMLElement>('[role="row"]')?.dataset.place;
    if (place === undefined) return;
    active = Number(place);
    onChoose(order[active]);
  });
  grid.addEventListener('keydown', (event) => {
    const page = Math.max(1, Math.floor(grid.clientHeight / ROW_PX) - 2);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -order.length,
      End: order.length,
    };
    if (event.target !== grid || order.length === 0) return;
    if (event.key === 'Enter' || event.key === ' ') onChoose(order[active]);
    else if (event.key === 'Escape') view.select(-1);
    else if (event.key in steps) active = Math.min(order.length - 1, Math.max(0, active + steps[event.key]));
    else return;
    event.preventDefault();
    reveal(active);
  });
  new ResizeObserver(render).observe(grid);
  view.onChange((change) => {
    if (change === 'filters') sort();
    if (change === 'selection') render();
  });
  sort();

  return {
    show(at) {
      const place = order.indexOf(at);
      if (place < 0) return;
      active = place;
      reveal(place);
    },
  };
}

function emptyRow(columns: number): HTMLElement {
  const row = element('div', { role: 'row' }, element('div', { role: 'gridcell' }));
  for (let i = 0; i < columns; i++) {
    row.append(element('div', { role: 'gridcell', class: i === 0 ? 'name' : 'number' }));
  }
  return row;
}

/** The frame of every picture: a heading, a line that says what is shown, the picture, and its numbers as a table. */
import { type Content, type Markup, tag } from './markup.ts';

export interface Card {
  id: string;
  title: string;
  /** What the picture shows, in a sentence. */
  note: Content;
  /** The whole width, or a third of it (default: half). */
  size?: 'wide' | 'third';
}

export function card({ id, title, note, size }: Card, ...content: Content[]): Markup {
  const heading = `${id}-title`;
  return tag(
    'section',
    { id, class: size === undefined ? 'card' : `card ${size}`, 'aria-labelledby': heading },
    tag('h2', { id: heading }, title),
    tag('p', { class: 'note' }, note),
    ...content,
  );
}

export interface Column {
  title: string;
  isNumber?: true;
}

export function table(columns: readonly Column[], rows: readonly (readonly Content[])[]): Markup {
  const cellClass = (at: number) => (columns[at].isNumber ? 'number' : undefined);
  return tag(
    'div',
    { class: 'scroll' },
    tag(
      'table',
      {},
      tag(
        'thead',
        {},
        tag(
          'tr',
          {},
          columns.map(({ title }, at) => tag('th', { scope: 'col', class: cellClass(at) }, title)),
        ),
      ),
      tag(
        'tbody',
        {},
        rows.map((cells) =>
          tag(
            'tr',
            {},
            cells.map((cell, at) => tag('td', { class: cellClass(at) }, cell)),
          ),
        ),
      ),
    ),
  );
}

/** For readers who cannot see the picture, or want the numbers. */
export function asTable(columns: readonly Column[], rows: readonly (readonly Content[])[]): Markup {
  return tag('details', {}, tag('summary', {}, 'The numbers'), table(columns, rows));
}

export function legend(entries: readonly (readonly [kind: string, words: string])[]): Markup {
  return tag(
    'ul',
    { class: 'legend' },
    entries.map(([kind, words]) =>
      tag(
        'li',
        {},
        tag(
          'svg',
          { width: 12, height: 12, 'aria-hidden': 'true' },
          tag('rect', { class: kind, width: 12, height: 12 }),
        ),
        ` ${words}`,
      ),
    ),
  );
}

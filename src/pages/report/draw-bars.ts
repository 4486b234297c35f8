/** Counts as a table with a bar in each row: a histogram that can be read without a picture. */
import { showCount } from '../../render/terminal-text.ts';
import { type Content, type Markup, percent, tag } from './markup.ts';

export interface Bar {
  label: Content;
  count: number;
  /** The count as text, if it is no plain number. */
  shown?: string;
  /** A further note. */
  aside?: string;
  kind?: string;
  tip?: string;
}

const BAR_PX = 14;

export function drawBars(bars: readonly Bar[], heads: readonly [label: string, count: string]): Markup {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  return tag(
    'table',
    { class: 'bars' },
    tag(
      'thead',
      { class: 'unseen' },
      tag(
        'tr',
        {},
        tag('th', { scope: 'col' }, heads[0]),
        tag('th', { scope: 'col' }, 'bar'),
        tag('th', { scope: 'col' }, heads[1]),
      ),
    ),
    tag(
      'tbody',
      {},
      bars.map(({ label, count, shown, aside, kind, tip }) =>
        tag(
          'tr',
          { 'data-tip': tip },
          tag(
            'th',
            { scope: 'row' },
            label,
            aside === undefined ? '' : tag('span', { class: 'aside' }, aside),
          ),
          tag(
            'td',
            { class: 'bar' },
            tag(
              'svg',
              { width: '100%', height: BAR_PX, 'aria-hidden': 'true' },
              tag('rect', {
                class: kind ?? 'plain',
                // A count above 0 must be visible.
                width: count === 0 ? 0 : percent(Math.max(count / most, 0.004)),
                height: BAR_PX,
              }),
            ),
          ),
          tag('td', { class: 'number' }, shown ?? showCount(count)),
        ),
      ),
    ),
  );
}

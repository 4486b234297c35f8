import { describe, expect, it } from 'vitest';
import { SumiError } from '../errors.ts';
import {
  COPY_ORDER,
  type CopyProgress,
  type CopyRequest,
  columnsOf,
  createRowReader,
  progressToResume,
} from './copy-port.ts';
import { PageNumbers } from './page-numbers.ts';

const numbering = {
  pages: PageNumbers.of([
    [10, 3],
    [20, 2],
  ]),
  runs: [4, 9],
};

describe('neutral rows', () => {
  it('name pages and runs by their numbers', () => {
    const toRow = createRowReader('link_set', numbering, 'x.db');
    expect(toRow([20, 'a.example', 9, '[10,12,21]', '[0,0,128]', '["a",null,"b"]'])).toEqual([
      4,
      'a.example',
      2,
      [1, 3, 5],
      [0, 0, 128],
      ['a', null, 'b'],
    ]);
  });

  it('are the same whether no flag is set or none was written', () => {
    const toRow = createRowReader('link_set', numbering, 'x.db');
    expect(toRow([10, 'a', 4, '[]', '[0,0]', null])).toEqual(toRow([10, 'a', 4, '[]', null, null]));
  });

  it('have pages in flight as queued and runs under way as interrupted', () => {
    const at = columnsOf('url').findIndex(([name]) => name === 'state');
    const raw = columnsOf('url').map(([name]) => (name === 'state' ? 2 : null));
    expect(createRowReader('url', numbering, 'x.db')(raw)[at]).toBe(1);
    const run = columnsOf('run').map(([name]) => (name === 'status' ? 'running' : null));
    expect(createRowReader('run', numbering, 'x.db')(run)).toContain('interrupted');
  });

  it('keep no sign that PostgreSQL cannot hold', () => {
    const toRow = createRowReader('page_text', numbering, 'x.db');
    expect(toRow([10, 'a', 'x\0y 😀'])).toEqual([1, 'a', 'x\ufffdy 😀']);
  });

  it('are refused when a page is referred to that has no row', () => {
    const toRow = createRowReader('lowering', numbering, 'x.db');
    expect(() => toRow([13, 'a'])).toThrow('page 13 is referred to in lowering but has no row');
  });

  it('begin with the table that others refer to', () => {
    const place = (table: (typeof COPY_ORDER)[number]) => COPY_ORDER.indexOf(table);
    expect(place('run')).toBeLessThan(place('url'));
    expect(place('host')).toBeLessThan(place('robots_txt'));
    expect(place('url')).toBeLessThan(place('fetched'));
  });
});

describe('an interrupted copy', () => {
  const found: CopyProgress = {
    source: 's',
    sourceProject: 'p',
    mark: 'm',
    projectId: 1,
    ids: [],
    table: 'url',
    after: 5,
  };
  const PROJECT = {
    ...{ name: 'p', createdAt: 0, unprepared: null, settings: null },
    ...{ uid: null, websiteUrl: null, updatedAt: 0, deletedAt: null },
  };
  const request = (change: Partial<CopyRequest> = {}, mark = 'm'): CopyRequest => ({
    name: 'p',
    source: 's',
    sourceProject: 'p',
    reader: { project: PROJECT, pages: 0, mark },
    restart: false,
    ...change,
  });

  it('goes on when it is of the same source, unchanged', () => {
    expect(progressToResume(found, request(), 'x.db')).toBe(found);
  });

  it('begins again when the source has changed, or when asked', () => {
    expect(progressToResume(found, request({}, 'changed'), 'x.db')).toBeNull();
    expect(progressToResume(found, request({ restart: true }), 'x.db')).toBeNull();
    expect(progressToResume(null, request(), 'x.db')).toBeNull();
  });

  it('of another source is refused', () => {
    expect(() => progressToResume(found, request({ source: 'other' }), 'x.db')).toThrow(SumiError);
    expect(() => progressToResume(found, request({ sourceProject: 'q' }), 'x.db')).toThrow(
      'interrupted copy',
    );
  });
});

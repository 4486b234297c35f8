import { describe, expect, it } from 'vitest';
import { type Column, layOutTable } from './render-table.ts';

interface Row {
  name: string;
  size: number;
  url: string;
}

const COLUMNS: Column<Row>[] = [
  { title: 'name', value: (row) => row.name },
  { title: 'size', value: (row) => row.size, align: 'right' },
  { title: 'url', value: (row) => row.url, shrinksTo: 10 },
];
const ROWS: Row[] = [
  { name: 'a', size: 1, url: 'https://example.com/a/very/long/path' },
  { name: 'bb', size: 1000, url: 'https://example.com/' },
];
const plain = (_: string, text: string) => text;

describe('a table', () => {
  it('aligns columns and keeps values whole where no terminal limits it', () => {
    const { head, line } = layOutTable(COLUMNS, ROWS, null, plain);
    expect([head, ...ROWS.map(line)]).toEqual([
      'name  size  url',
      'a        1  https://example.com/a/very/long/path',
      'bb    1000  https://example.com/',
    ]);
    expect(line({ name: 'later and longer', size: 5, url: 'u' })).toBe('later and longer     5  u');
  });

  it('fits the terminal by cutting the columns that may shrink', () => {
    const { head, line } = layOutTable(COLUMNS, ROWS, 30, plain);
    for (const text of [head, ...ROWS.map(line)]) expect(text.length).toBeLessThanOrEqual(30);
    expect(line(ROWS[0])).toBe('a        1  https://example.c…');
  });

  it('keeps the end of values that differ there', () => {
    const columns: Column<Row>[] = [
      { title: 'url', value: (row) => row.url, shrinksTo: 10, keepsEnd: true },
      { title: 'size', value: (row) => row.size, align: 'right' },
    ];
    const { line } = layOutTable(columns, ROWS, 20, plain);
    expect(ROWS.map(line)).toEqual(['http…long/path     1', 'http…mple.com/  1000']);
  });

  it('takes from the widest column first', () => {
    const columns: Column<Row>[] = [
      { title: 'name', value: (row) => row.name, shrinksTo: 2 },
      { title: 'url', value: (row) => row.url, shrinksTo: 2 },
    ];
    const { line } = layOutTable(columns, ROWS, 24, plain);
    expect(line(ROWS[1])).toBe('bb    https://example.c…');
  });

  it('lets no value steer the terminal', () => {
    const { line } = layOutTable(COLUMNS, ROWS, null, plain);
    expect(line({ name: 'x\u001b[2J', size: 0, url: '' })).not.toContain('\u001b');
  });
});

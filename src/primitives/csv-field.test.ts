import { describe, expect, it } from 'vitest';
import { csvField } from './csv-field.ts';

describe('a value of a CSV file', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+cmd|calc', "'+cmd|calc"],
    ['-2+3', "'-2+3"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
    ['- a list', "'- a list"],
    ['＝1＋1', "'＝1＋1"],
    ['＠SUM(A1)', "'＠SUM(A1)"],
  ])('is no formula: %j', (text, field) => {
    expect(csvField(text)).toBe(field);
  });

  it.each([
    [-5, '-5'],
    ['-5', '-5'],
    ['+4.25', '+4.25'],
    ['-1e-7', '-1e-7'],
    ['a=b', 'a=b'],
    ['https://example.com/?a=1', 'https://example.com/?a=1'],
    ['a, "b"', '"a, ""b"""'],
    [null, ''],
    [[], '[]'],
  ])('that is none stays as it is: %j', (value, field) => {
    expect(csvField(value)).toBe(field);
  });
});

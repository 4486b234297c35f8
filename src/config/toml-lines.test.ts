import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { indexTomlLines } from './toml-lines.ts';

const lineOf = (text: string, path: string) => {
  parse(text);
  return indexTomlLines(text).lineOf(path);
};

describe('the lines of a TOML text', () => {
  it('are found for keys, sections and items, past comments and texts that look like keys', () => {
    const text = [
      '# max-depth = 9', // 1
      'title = "a # b = [c]" # [crawler]', // 2
      '[crawler]', // 3
      'note = """', // 4
      'max-depth = 1', // 5
      '[[quality]] \\""" in it""""', // 6
      "max-depth = 2 # 'x", // 7
      "path = 'C:\\'", // 8
      '', // 9
      '[[quality]]', // 10
      'domain = "a.com"', // 11
      'seeds = [ # first', // 12
      '  "https://a.com/]", # second', // 13
      '', // 14
      "  'https://a.com/,',", // 15
      ']', // 16
      '[[quality]]', // 17
      '  "domain" = "b.com"', // 18
      'inline = { x = 1, y = [1, 2], z = { w = "}" } }', // 19
      'when = 2026-01-02 03:04:05', // 20
      '[[stub]]', // 21
      'domain="c.com"', // 22
    ].join('\n');
    const at = (path: string) => lineOf(text, path);
    expect(at('title')).toBe(2);
    expect(at('crawler')).toBe(3);
    expect(at('crawler.note')).toBe(4);
    expect(at('crawler.max-depth')).toBe(7);
    expect(at('crawler.path')).toBe(8);
    expect(at('quality[0]')).toBe(10);
    expect(at('quality[0].seeds')).toBe(12);
    expect([at('quality[0].seeds[0]'), at('quality[0].seeds[1]')]).toEqual([13, 15]);
    expect([at('quality[1]'), at('quality[1].domain')]).toEqual([17, 18]);
    expect([at('quality[1].inline.y[1]'), at('quality[1].inline.z.w')]).toEqual([19, 19]);
    expect([at('quality[1].when'), at('stub[0].domain')]).toEqual([20, 22]);
  });

  it('are found for dotted keys and for sections inside sections', () => {
    const text = [
      'a.b.c = 1', // 1
      '"x y".z = [[1],', // 2
      '  [2, 3], []]', // 3
      '[p.q]', // 4
      'r = {}', // 5
      '[[s]]', // 6
      '[s.t]', // 7
      'u = 1', // 8
      '[[s.v]]', // 9
      'w = 1', // 10
      '[[s.v]]', // 11
      '[[s]]', // 12
      '[[s.v]]', // 13
    ].join('\n');
    const wanted = {
      'a.b.c': 1,
      'x y.z[1][1]': 3,
      'p.q.r': 5,
      's[0]': 6,
      's[0].t.u': 8,
      's[0].v[0].w': 10,
      's[0].v[1]': 11,
      's[1]': 12,
      's[1].v[0]': 13,
    };
    for (const [path, line] of Object.entries(wanted))
      expect([path, lineOf(text, path)]).toEqual([path, line]);
  });

  it('give the nearest thing around what does not stand there, else the last line', () => {
    const text = '[crawler]\nmax-depth = 1\n[[quality]]\ndomain = "a.com"\n\n';
    expect(lineOf(text, 'quality[0].seeds[2]')).toBe(3);
    expect(lineOf(text, 'crawler.no')).toBe(1);
    expect(lineOf(text, 'output.db')).toBe(4);
    expect(indexTomlLines('').lineOf('quality')).toBe(1);
  });

  it('count a line end of either kind once', () => {
    expect(lineOf('a = 1\r\nb = """\r\n\r\n"""\r\nc = 2\r\n', 'c')).toBe(5);
  });
});

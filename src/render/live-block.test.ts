import { describe, expect, it } from 'vitest';
import { createLiveBlock } from './live-block.ts';

/** A screen that understands what a block writes: carriage return, cursor up, erase below, new line. */
function createScreen(columns: number) {
  let lines = [''];
  let row = 0;
  let column = 0;
  return {
    columns,
    isTTY: true,
    get shown() {
      return lines.filter((line, i) => line !== '' || i < lines.length - 1);
    },
    type(text: string) {
      lines[row] = lines[row].slice(0, column) + text;
      column += text.length;
    },
    write(text: string) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal reads them
      for (const [piece] of text.matchAll(/\x1b\[\d*[AJ]|\r|\n|[^\x1b\r\n]+/g)) {
        if (piece === '\r') column = 0;
        else if (piece === '\n') {
          row++;
          column = 0;
          lines[row] ??= '';
        } else if (piece.endsWith('A') && piece.startsWith('\x1b'))
          row -= Number.parseInt(piece.slice(2), 10);
        else if (piece === '\x1b[J') lines = [...lines.slice(0, row), lines[row].slice(0, column)];
        else this.type(piece);
      }
    },
  };
}

describe('a live block', () => {
  it('is redrawn in place, with fewer or more lines', () => {
    const screen = createScreen(40);
    const block = createLiveBlock(screen);
    block.draw(['1 page', 'a']);
    block.draw(['2 pages', 'b', 'c']);
    block.draw(['3 pages']);
    expect(screen.shown).toEqual(['3 pages']);
  });

  it('lets printed lines scroll above it', () => {
    const screen = createScreen(40);
    const block = createLiveBlock(screen);
    block.print('begin');
    block.draw(['1 page', 'url']);
    block.print('a page');
    expect(screen.shown).toEqual(['begin', 'a page', '1 page', 'url']);
  });

  it('leaves nothing behind, also after the ^C that a terminal echoes', () => {
    const screen = createScreen(40);
    const block = createLiveBlock(screen);
    block.print('begin');
    block.draw(['1 page', 'url']);
    screen.type('^C');
    block.print('finishing');
    block.clear();
    expect(screen.shown).toEqual(['begin', 'finishing']);
  });

  it('never wraps', () => {
    const screen = createScreen(10);
    createLiveBlock(screen).draw(['0123456789abcdef']);
    expect(screen.shown).toEqual(['01234567…']);
  });
});

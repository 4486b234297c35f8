/**
 * Text for terminals: colours that can be off, widths as a terminal counts them, quantities as people read them.
 * Everything from a web page passes through `printable` first, because a title must not be able to control a terminal.
 */

export interface TextStream {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const COLOURS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Paint = (colour: keyof typeof COLOURS, text: string) => string;

/** Colour only on a terminal, and not if NO_COLOR (https://no-color.org) is set. */
export function painterFor(stream: TextStream, env: Readonly<Record<string, string | undefined>>): Paint {
  const isOn = stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
  return (colour, text) => (isOn && text !== '' ? `\x1b[${COLOURS[colour]}m${text}\x1b[0m` : text);
}

/** Invisible marks inside words: possible breaks, or the direction of text. */
const UNSEEN = /[\u00ad\u061c\u200b\u200e\u200f\u2060\ufeff]+/gu;
/** All other control characters, except the joiners: without them Persian, Hindi and emoji families would change. */
const STEERING = /(?:(?![\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029])+/gu;

export function printable(text: string): string {
  return text.replace(UNSEEN, '').replace(STEERING, ' ');
}

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const ASCII = /^[\x20-\x7e]*$/;

function cellsOf(char: string): number {
  if (/[\p{M}\p{Cf}]/u.test(char)) return 0;
  return WIDE.test(char) || /\p{Emoji_Presentation}/u.test(char) ? 2 : 1;
}

/** The number of columns that the text takes on a terminal. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += cellsOf(char);
  return width;
}

/** At most `width` columns; the last one is … if something was cut. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return `${takeCells(text, width - 1).join('')}…`;
}

/** The same, with … inside: the URLs of one site differ in their ends. */
export function cutInside(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const before = Math.floor((width - 1) / 3);
  const end = takeCells([...text].reverse(), width - 1 - before).reverse();
  return `${takeCells(text, before).join('')}…${end.join('')}`;
}

function takeCells(chars: Iterable<string>, cells: number): string[] {
  const taken: string[] = [];
  let left = cells;
  for (const char of chars) {
    left -= cellsOf(char);
    if (left < 0) break;
    taken.push(char);
  }
  return taken;
}

export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return align === 'right' ? space + text : text + space;
}

export function showCount(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function showBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function showSeconds(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const parts = [
    Math.floor(whole / 86_400),
    Math.floor(whole / 3600) % 24,
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  const first = parts.findIndex((part) => part > 0);
  // Two units are enough: nobody needs the seconds of a day.
  return parts
    .map((part, i) => `${part} ${['d', 'h', 'min', 's'][i]}`)
    .slice(first, first + 2)
    .join(' ');
}

/** One of many: "1 page", "2 pages". */
export function showMany(n: number, one: string, many = `${one}s`): string {
  return `${showCount(n)} ${n === 1 ? one : many}`;
}

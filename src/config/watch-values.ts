/** How budgets and hours of the day are written: `5000/day`, `22-6`. Null for what is neither. */

const DAYS: Record<string, number> = { minute: 1 / 1440, hour: 1 / 24, day: 1, week: 7 };

/** Visits a day; a number alone is of a day. */
export function readRate(text: string): number | null {
  return readBudget(text)?.perDay ?? null;
}

/**
 * `atOnce`: the number as it is written, whole and one at least, but no more than a day's worth. `most`: what may be saved
 * up, a day's worth or the number as it is written, whichever is more.
 */
export function readBudget(text: string): { perDay: number; atOnce: number; most: number } | null {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)\s*(?:\/\s*(minute|hour|day|week))?$/.exec(text.trim());
  if (match === null) return null;
  const perDay = Number(match[1]) / DAYS[match[2] ?? 'day'];
  if (perDay <= 0) return null;
  const written = Number(match[1]);
  const atOnce = Math.max(1, Math.floor(Math.min(written, perDay)));
  return { perDay, atOnce, most: Math.max(1, perDay, written) };
}

/** From the first hour on, up to and without the second; over midnight where the first is the later one. */
export interface DayHours {
  from: number;
  to: number;
}

export function readHours(text: string): DayHours | null {
  const match = /^(\d{1,2})\s*-\s*(\d{1,2})$/.exec(text.trim());
  if (match === null) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return from <= 23 && to <= 24 && from !== to % 24 ? { from, to: to % 24 } : null;
}

/** The words of a command: blanks part them, quotes and backslashes keep them together. Nothing is ever replaced. */
export function readWords(text: string): string[] | null {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const match = /^(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/s.exec(rest);
    if (match === null) return null;
    words.push(
      match[0].replace(
        /\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"/gs,
        (_, escaped: string | undefined, single: string | undefined, double: string | undefined) =>
          escaped ?? single ?? double!.replace(/\\(["\\])/g, '$1'),
      ),
    );
    const after = rest.slice(match[0].length);
    if (after !== '' && !/^\s/.test(after)) return null;
    rest = after.trimStart();
  }
  return words.length === 0 || words[0] === '' ? null : words;
}

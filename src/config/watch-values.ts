/** How budgets and hours of the day are written: `5000/day`, `22-6`. Null for what is neither. */

const DAYS: Record<string, number> = { minute: 1 / 1440, hour: 1 / 24, day: 1, week: 7 };
const DAY_MS = 86_400_000;

/** Visits a day; a number alone is of a day. */
export function readRate(text: string): number | null {
  return readBudget(text)?.perDay ?? null;
}

/** So many visits in so much time. Below one visit the time is as long as it takes to come to one. */
export function readBudget(text: string): { visits: number; periodMs: number; perDay: number } | null {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)\s*(?:\/\s*(minute|hour|day|week))?$/.exec(text.trim());
  if (match === null) return null;
  const [written, days] = [Number(match[1]), DAYS[match[2] ?? 'day']];
  if (written <= 0) return null;
  const visits = Math.max(1, written);
  const periodMs = ((days * visits) / written) * DAY_MS;
  return { visits, periodMs, perDay: written / days };
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

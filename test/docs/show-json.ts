// Lays out JSON for people: what fits on a line stays on it, the rest is broken at its members, as a page shows it.
/** Letters of a line of the page. */
const WIDTH = 100;
/** Numbers that differ from one run to the next count as if they had so many letters. */
const LIKE_A_NUMBER = '12.34';

/** Names whose numbers differ from one run to the next. */
export const VARYING_NUMBERS =
  'milliseconds|duration_ms|response_ms|mean_response_ms|average_ms|pages_per_second|seconds_left|delay_ms|pid';
const VARYING = new RegExp(`("(?:${VARYING_NUMBERS})": )-?[\\d.]+(?:e-?\\d+)?`, 'g');

/** Lines of JSON that are too long for the page are laid out; all others stay as they are. */
export function showJson(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const value = line.length > WIDTH && /^[{[]/.test(line) ? parsed(line) : undefined;
      return value === undefined ? line : layOut(value, '', 0);
    })
    .join('\n');
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function layOut(value: unknown, indent: string, before: number): string {
  const short = onOneLine(value);
  if (typeof value !== 'object' || value === null) return short;
  if (indent.length + before + short.replace(VARYING, `$1${LIKE_A_NUMBER}`).length <= WIDTH) return short;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((one) => inner + layOut(one, inner, 1))
    : Object.entries(value).map(([name, one]) => {
        const label = `${JSON.stringify(name)}: `;
        return inner + label + layOut(one, inner, label.length + 1);
      });
  return `${isList ? '[' : '{'}\n${members.join(',\n')}\n${indent}${isList ? ']' : '}'}`;
}

function onOneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`;
  const members = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${onOneLine(one)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

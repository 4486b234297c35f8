/**
 * Splits a list of regular expressions at commas. A comma inside {}, [] or (), or after a backslash, belongs to its
 * expression: `a{2,3},b` is two patterns. Spaces around a pattern and empty patterns are dropped.
 */
export function splitPatterns(list: string): string[] {
  const patterns: string[] = [];
  let start = 0;
  let depth = 0;
  let isInClass = false;
  const take = (end: number) => {
    const pattern = list.slice(start, end).trim();
    if (pattern !== '') patterns.push(pattern);
    start = end + 1;
  };
  for (let i = 0; i < list.length; i++) {
    const char = list[i];
    if (char === '\\') i++;
    else if (isInClass) isInClass = char !== ']';
    else if (char === '[') {
      // A bracket that is never closed must be reported by the compiler; it must not swallow the list.
      isInClass = closesLater(list, i + 1, ']');
    } else if (char === '(' || char === '{') {
      if (closesLater(list, i + 1, char === '(' ? ')' : '}')) depth++;
    } else if (char === ')' || char === '}') depth = Math.max(0, depth - 1);
    else if (char === ',' && depth === 0) take(i);
  }
  take(list.length);
  return patterns;
}

function closesLater(list: string, from: number, closing: string): boolean {
  return list.indexOf(closing, from) !== -1;
}

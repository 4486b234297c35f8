/**
 * Reduces a query to the part that belongs to the identity: parameters sorted by name, then by value, unwanted ones
 * dropped, with `?` if anything is left. Works on the text as it is and never decodes.
 */

/** Takes a query without its `?`; gives `''` or `?…`. */
export type QueryRule = (query: string) => string;

/**
 * `name*` in a list means every name that begins with `name`; case does not count. If `kept` is null, everything that
 * is not dropped is kept.
 */
export interface QueryLists {
  readonly dropped: readonly string[];
  readonly kept: readonly string[] | null;
}

export function createQueryRule({ dropped, kept: keptNames }: QueryLists): QueryRule {
  const isDropped = dropped.length === 0 ? null : nameMatcher(dropped);
  const isKept = keptNames === null ? null : nameMatcher(keptNames);
  const filters = isDropped !== null || isKept !== null;
  return (query) => {
    if (!filters && query !== '' && !query.includes('&')) return `?${query}`;
    const kept = query.split('&').filter((parameter) => {
      if (parameter === '') return false;
      if (!filters) return true;
      const name = nameOf(parameter).toLowerCase();
      return !isDropped?.(name) && (isKept === null || isKept(name));
    });
    if (kept.length === 0) return '';
    return `?${kept.length === 1 ? kept[0] : kept.sort(compareParameters).join('&')}`;
  };
}

/**
 * Drops parameters inside the path, such as sessions: `/a;jsessionid=1/b` becomes `/a/b`. Takes a URL and the position
 * of its path. Null if no parameter is to be dropped.
 */
export function createPathRule(
  dropped: readonly string[],
): ((href: string, pathStart: number) => string) | null {
  if (dropped.length === 0) return null;
  const isDropped = nameMatcher(dropped);
  return (href, pathStart) => {
    if (!href.includes(';', pathStart)) return href;
    const queryAt = href.indexOf('?', pathStart);
    const pathEnd = queryAt === -1 ? href.length : queryAt;
    const path = href
      .slice(pathStart, pathEnd)
      .replace(/;[^;/]*/g, (parameter) =>
        isDropped(nameOf(parameter.slice(1)).toLowerCase()) ? '' : parameter,
      );
    return href.slice(0, pathStart) + path + href.slice(pathEnd);
  };
}

function nameOf(parameter: string): string {
  const equals = parameter.indexOf('=');
  return equals === -1 ? parameter : parameter.slice(0, equals);
}

/** By name first: comparing whole parameters would put `a-b=1` before `a=1`, since `-` sorts before `=`. */
function compareParameters(a: string, b: string): number {
  const nameA = nameOf(a);
  const nameB = nameOf(b);
  if (nameA !== nameB) return nameA < nameB ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function nameMatcher(names: readonly string[]): (name: string) => boolean {
  const exact = new Set<string>();
  const prefixes: string[] = [];
  for (const name of names) {
    if (name.endsWith('*')) prefixes.push(name.slice(0, -1).toLowerCase());
    else exact.add(name.toLowerCase());
  }
  return (name) => exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

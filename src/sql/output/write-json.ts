/**
 * Results as JSON: one array a result on one line, or one object a line. Columns of one name are told apart by
 * numbers.
 */

import type { ResultColumn, ResultWriter } from './result-format.ts';
import { jsonEncoder } from './value-json.ts';
import { createLineCutter } from './write-lines.ts';
import type { ZonedText } from './zoned-time.ts';

export function jsonLinesWriter(columns: readonly ResultColumn[], zoned: ZonedText): ResultWriter {
  return { chunk: createLineCutter(objectLines(columns, zoned, '}\n')), end: () => '' };
}

export function jsonArrayWriter(columns: readonly ResultColumn[], zoned: ZonedText): ResultWriter {
  // Each object but the first has the comma before it: which one is the last is known only at the end.
  const cut = createLineCutter(objectLines(columns, zoned, '}'));
  let isBegun = false;
  return {
    *chunk(chunk) {
      for (const text of cut(chunk)) {
        yield isBegun ? text : `[${text.slice(1)}`;
        isBegun = true;
      }
    },
    end: () => (isBegun ? ']\n' : '[]\n'),
  };
}

function objectLines(columns: readonly ResultColumn[], zoned: ZonedText, after: '}' | '}\n') {
  const open = after === '}' ? ',{' : '{';
  const keys = distinctNames(columns.map(({ name }) => name)).map((name) => `${JSON.stringify(name)}:`);
  return {
    types: columns.map(({ type }) => type),
    encoders: columns.map(({ type }) => jsonEncoder(type, zoned)),
    nullText: 'null',
    before: keys.map((key, i) => (i === 0 ? open : ',') + key),
    after,
  };
}

/** As DuckDB names the columns of a table made of such a query: a, a_1, a_2. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set(names);
  const given = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let n = 1; given.has(own); n++) {
      const next = `${name}_${n}`;
      if (!taken.has(next)) own = next;
    }
    given.add(own);
    return own;
  });
}

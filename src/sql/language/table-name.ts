/** Names of tables in our statements: up to three parts, plain or in double quotes. */
import type { Place, TextPart } from './place.ts';
import type { TokenCursor } from './token-cursor.ts';

export interface TableName {
  catalog: string | null;
  schema: string | null;
  table: string;
  /** As it was written, and where. */
  written: TextPart;
  place: Place;
}

const ADVICE = 'Write the name of a table, as in INTO pages or INTO web.main."my pages".';

/** `reserved`: words that begin what follows; as a name they stand in quotes. */
export function readTableName(cursor: TokenCursor, reserved: ReadonlySet<string>): TableName {
  const first = cursor.peek();
  const parts: string[] = [];
  do {
    const token = cursor.peek();
    const isName =
      token?.kind === 'identifier' ||
      (token?.kind === 'word' && !(parts.length === 0 && reserved.has(token.value)));
    if (!isName || parts.length === 3)
      throw cursor.unexpected(`after ${cursor.last()?.text}`, 'the name of a table', ADVICE);
    const name = token.kind === 'word' ? token.text : token.value;
    if (name === '') throw cursor.error(token, 'the name "" is empty; expected the name of a table', ADVICE);
    parts.push(name);
    cursor.take();
  } while (cursor.skipSymbol('.'));
  const [table, schema = null, catalog = null] = parts.reverse();
  const written = cursor.part(first!, cursor.last()!);
  return { catalog, schema, table, written, place: cursor.placeOf(first) };
}

/** Reads ATTACH … (TYPE sumi): a crawl's store as a database of the session. Every other ATTACH is DuckDB's. */
import { nearestName } from '../../config/nearest-name.ts';
import type { Token } from './lex.ts';
import type { Place } from './place.ts';
import type { TokenCursor } from './token-cursor.ts';

export interface AttachSite {
  kind: 'attach-site';
  /** A file, or the address of a PostgreSQL database. */
  address: string;
  addressPlace: Place;
  /** As a database of the session. */
  name: string;
  namePlace: Place;
  /** Null: the only one there is. */
  project: string | null;
  projectPlace: Place | null;
  /** When there is a database of that name: an error, nothing, or the new one in its place. */
  whenThere: 'error' | 'keep' | 'replace';
}

const ADVICE = `Write ATTACH 'sumi.db' AS site (TYPE sumi), perhaps with a project: (TYPE sumi, PROJECT 'shop').`;

export function isAttachSite(tokens: readonly Token[]): boolean {
  let depth = 0;
  return tokens.some((token, index) => {
    if (token.text === '(') depth++;
    if (token.text === ')') depth--;
    const type = tokens[index + 1];
    return (
      depth === 1 &&
      token.kind === 'word' &&
      token.value === 'TYPE' &&
      /^(word|string|identifier)$/.test(type?.kind ?? '') &&
      type.value.toLowerCase() === 'sumi'
    );
  });
}

type Draft = Pick<AttachSite, 'project' | 'projectPlace'>;

/** What may stand in the brackets. Each reader begins behind its name. */
const OPTIONS: Readonly<Record<string, (cursor: TokenCursor, draft: Draft) => void>> = {
  TYPE: (cursor) => void cursor.take(),
  PROJECT: (cursor, draft) => {
    const token = cursor.peek();
    if (!/^(word|string|identifier)$/.test(token?.kind ?? ''))
      throw cursor.unexpected('after PROJECT', 'the name of a project', ADVICE);
    draft.projectPlace = cursor.placeOf(token);
    draft.project = token!.kind === 'word' ? token!.text : token!.value;
    cursor.take();
  },
  // What is attached is always read-only.
  READ_ONLY: (cursor) => {
    if (cursor.isSymbol(',') || cursor.isSymbol(')') || cursor.skipWord('TRUE')) return;
    throw cursor.unexpected(
      'after READ_ONLY',
      'TRUE or nothing',
      'A store is attached for reading only. Take it away.',
    );
  },
};

export function readAttach(cursor: TokenCursor): AttachSite {
  cursor.needWord('ATTACH', 'at the beginning', ADVICE);
  const whenThere = readWhenThere(cursor);
  cursor.skipWord('DATABASE');
  const file = cursor.peek();
  if (file?.kind !== 'string' || file.value === '')
    throw cursor.unexpected(`after ${cursor.last()?.text}`, 'the path of a file in quotes', ADVICE);
  cursor.take();
  cursor.needWord('AS', 'after the path', ADVICE);
  const name = cursor.peek();
  if (name?.kind !== 'word' && name?.kind !== 'identifier')
    throw cursor.unexpected('after AS', 'a name for the database', ADVICE);
  cursor.take();
  cursor.needSymbol('(', 'after the name', ADVICE);
  const draft = readAttachOptions(cursor);
  if (cursor.peek() !== undefined) throw cursor.unexpected('after the brackets', 'the end', ADVICE);
  return {
    kind: 'attach-site',
    address: file.value,
    addressPlace: cursor.placeOf(file),
    name: name.kind === 'word' ? name.text : name.value,
    namePlace: cursor.placeOf(name),
    ...draft,
    whenThere,
  };
}

function readWhenThere(cursor: TokenCursor): AttachSite['whenThere'] {
  if (cursor.skipWord('OR')) {
    cursor.needWord('REPLACE', 'after OR', ADVICE);
    return 'replace';
  }
  if (!cursor.skipWord('IF')) return 'error';
  cursor.needWord('NOT', 'after IF', ADVICE);
  cursor.needWord('EXISTS', 'after IF NOT', ADVICE);
  return 'keep';
}

function readAttachOptions(cursor: TokenCursor): Draft {
  const draft: Draft = { project: null, projectPlace: null };
  const names = Object.keys(OPTIONS);
  const seen = new Set<string>();
  cursor.list(
    () => {
      const token = cursor.take();
      const name = token.kind === 'word' ? token.value : '';
      if (!Object.hasOwn(OPTIONS, name))
        throw cursor.error(
          token,
          `ATTACH of a store has no option ${token.text}; expected ${names.join(', ')}`,
          `Try ${nearestName(token.value.toUpperCase(), names)}, or take it away.`,
        );
      if (seen.has(name))
        throw cursor.error(
          token,
          `${token.text} stands there twice; expected it once`,
          'Take one of the two away.',
        );
      seen.add(name);
      OPTIONS[name](cursor, draft);
    },
    'TYPE sumi',
    ADVICE,
  );
  return draft;
}

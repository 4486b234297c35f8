/**
 * Reads `CRAWL (query) INTO table`, then its clauses in any order, each once. Query and condition stay text, which
 * DuckDB prepares; their places in the statement are kept, so that DuckDB's errors can be led back to them.
 */
import type { Token } from './lex.ts';
import type { TextPart } from './place.ts';
import { type ExtractItem, readExtract } from './read-extract.ts';
import { type OptionEntry, readOptions } from './read-options.ts';
import { readTableName, type TableName } from './table-name.ts';
import { shown, type TokenCursor } from './token-cursor.ts';

export interface CrawlStatement {
  kind: 'crawl';
  isExplain: boolean;
  query: TextPart;
  target: TableName;
  extract: readonly ExtractItem[];
  condition: TextPart | null;
  options: readonly OptionEntry[];
  /** The most rows to write; null: all. */
  limit: number | null;
  /** From CRAWL on. */
  text: string;
}

type Clauses = Pick<CrawlStatement, 'extract' | 'condition' | 'options' | 'limit'>;

/** What may follow the table, by its first word. Each reader begins behind that word. */
const CLAUSES: Readonly<Record<string, (cursor: TokenCursor, clauses: Clauses) => void>> = {
  EXTRACT: (cursor, clauses) => {
    clauses.extract = readExtract(cursor);
  },
  WHERE: (cursor, clauses) => {
    clauses.condition = readCondition(cursor);
  },
  WITH: (cursor, clauses) => {
    clauses.options = readOptions(cursor);
  },
  LIMIT: (cursor, clauses) => {
    clauses.limit = readLimit(cursor);
  },
};

export const CLAUSE_WORDS: ReadonlySet<string> = new Set(Object.keys(CLAUSES));

const FORM = 'CRAWL (SELECT …) INTO table [EXTRACT (…)] [WHERE condition] [WITH (…)] [LIMIT n]';
const FORM_ADVICE = `The form is ${FORM}.`;

export function readCrawl(cursor: TokenCursor, tokens: readonly Token[]): CrawlStatement {
  const isExplain = cursor.skipWord('EXPLAIN');
  const first = cursor.needWord('CRAWL', 'at the beginning', FORM_ADVICE);
  const query = readQuery(cursor);
  cursor.needWord('INTO', 'after the query', `Write INTO and the name of a table. ${FORM_ADVICE}`);
  const target = readTableName(cursor, CLAUSE_WORDS);
  const clauses = readClauses(cursor);
  refuseParameters(cursor, tokens, query);
  const { text } = cursor.part(first, tokens.at(-1)!);
  return { kind: 'crawl', isExplain, query, target, ...clauses, text };
}

const QUERY_ADVICE =
  "Write a query that gives URLs in the brackets: CRAWL (SELECT 'https://example.com/') INTO pages.";

function readQuery(cursor: TokenCursor): TextPart {
  cursor.needSymbol('(', 'after CRAWL', QUERY_ADVICE);
  const first = cursor.peek();
  for (let depth = 1; ; ) {
    const token = cursor.take();
    if (token.text === '(') depth++;
    else if (token.text === ')') depth--;
    if (depth > 0) continue;
    if (token !== first) break;
    throw cursor.error(token, 'there is nothing in the brackets after CRAWL; expected a query', QUERY_ADVICE);
  }
  return cursor.part(first!, cursor.peek(-2)!);
}

function readClauses(cursor: TokenCursor): Clauses {
  const clauses: Clauses = { extract: [], condition: null, options: [], limit: null };
  const seen = new Set<string>();
  for (;;) {
    const token = cursor.peek();
    if (token === undefined) return clauses;
    const word = token.kind === 'word' ? token.value : '';
    if (!CLAUSE_WORDS.has(word)) {
      const missing = [...CLAUSE_WORDS].filter((known) => !seen.has(known));
      const expected = missing.length === 0 ? 'the end' : `${missing.join(', ')} or the end`;
      throw cursor.unexpected(`after ${cursor.last()?.text}`, expected, FORM_ADVICE);
    }
    if (seen.has(word))
      throw cursor.error(
        token,
        `${word} stands here a second time; expected it once`,
        'Make one of the two.',
      );
    seen.add(word);
    cursor.take();
    CLAUSES[word](cursor, clauses);
  }
}

const WHERE_ADVICE = `Write a condition on url, as in WHERE url LIKE '%/blog/%'.`;

function readCondition(cursor: TokenCursor): TextPart {
  const first = cursor.peek();
  let depth = 0;
  for (let token = first; token !== undefined; token = cursor.peek()) {
    if (depth === 0 && beginsClause(cursor)) break;
    if (/^[([{]$/.test(token.text)) depth++;
    else if (/^[)\]}]$/.test(token.text)) depth--;
    cursor.take();
  }
  if (first === undefined || cursor.peek() === first)
    throw cursor.unexpected('after WHERE', 'a condition', WHERE_ADVICE);
  return cursor.part(first, cursor.last()!);
}

/** After these words, and after an operator, a value follows: there EXTRACT is DuckDB's function. */
const BEFORE_VALUE = new Set(
  'WHERE AND OR NOT LIKE ILIKE GLOB TO ESCAPE IN BETWEEN CASE WHEN THEN ELSE FROM DISTINCT'.split(' '),
);

function beginsClause(cursor: TokenCursor): boolean {
  const token = cursor.peek()!;
  if (token.kind !== 'word' || !CLAUSE_WORDS.has(token.value)) return false;
  const before = cursor.last()!;
  if (before.text === '.') return false;
  if (token.value === 'WITH') return !cursor.isWord('TIME', 1);
  if (token.value !== 'EXTRACT') return true;
  if (before.kind === 'symbol') return /^[)\]}]$/.test(before.text);
  return before.kind !== 'word' || !BEFORE_VALUE.has(before.value);
}

const LIMIT_ADVICE =
  'Write the most rows that the statement may add, as in LIMIT 100; without LIMIT there is no end.';

function readLimit(cursor: TokenCursor): number {
  const first = cursor.peek();
  const sign = cursor.isSymbol('-') ? cursor.take() : undefined;
  const token = cursor.peek();
  const limit =
    token?.kind === 'number' && /^[\d_]+$/.test(token.text) ? Number(token.text.replaceAll('_', '')) : null;
  if (limit === null || sign !== undefined || !Number.isSafeInteger(limit)) {
    const found = sign === undefined ? shown(token) : `-${token === undefined ? '' : shown(token)}`;
    throw cursor.error(first, `LIMIT is ${found}; expected a whole number of at least 0`, LIMIT_ADVICE);
  }
  cursor.take();
  return limit;
}

function refuseParameters(cursor: TokenCursor, tokens: readonly Token[], query: TextPart): void {
  const end = query.start + query.text.length;
  const stray = tokens.find(
    ({ kind, start }) => kind === 'parameter' && (start < query.start || start >= end),
  );
  if (stray === undefined) return;
  throw cursor.error(
    stray,
    `the parameter ${stray.text} stands outside of the query; expected parameters in the query only`,
    'Write the value itself here.',
  );
}

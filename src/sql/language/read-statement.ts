/**
 * Tells our statements from DuckDB's by their first words, and reads ours. Before: split-script.ts. After: the
 * session runs them. Checks the form only: no table, no query and no setting is looked at. Every mistake is a
 * `sql-syntax` with its place in the statement.
 */
import { nextToken, openError, type Token, tokensOf } from './lex.ts';
import { type AttachSite, isAttachSite, readAttach } from './read-attach.ts';
import { CLAUSE_WORDS, type CrawlStatement, readCrawl } from './read-crawl.ts';
import { readTableName, type TableName } from './table-name.ts';
import { checkBrackets, createTokenCursor, type TokenCursor } from './token-cursor.ts';

export interface StopCrawl {
  kind: 'stop-crawl';
  /** Null: all that are under way. */
  target: TableName | null;
}

/** DuckDB's own, as it was written. */
export interface DuckDBStatement {
  kind: 'duckdb';
  text: string;
}

export type Statement = CrawlStatement | StopCrawl | { kind: 'show-crawls' } | AttachSite | DuckDBStatement;

/** A statement of ours: its first words, in capitals, and who reads it from its first token on. */
interface OwnStatement {
  words: readonly string[];
  /** False: the words alone do not say so. */
  isOurs?: (tokens: readonly Token[]) => boolean;
  read: (cursor: TokenCursor, tokens: readonly Token[]) => Statement;
}

const OWN: readonly OwnStatement[] = [
  { words: ['CRAWL'], read: readCrawl },
  { words: ['EXPLAIN', 'CRAWL'], read: readCrawl },
  { words: ['EXPLAIN', 'ANALYZE', 'CRAWL'], read: refuseAnalyze },
  { words: ['STOP', 'CRAWL'], read: readStop },
  // SHOW is DESCRIBE for all other names.
  {
    words: ['SHOW', 'CRAWLS'],
    isOurs: (tokens) => tokens.length === 2,
    read: () => ({ kind: 'show-crawls' }),
  },
  { words: ['ATTACH'], isOurs: isAttachSite, read: readAttach },
];

export function readStatement(text: string): Statement {
  checkEnds(text);
  const first = firstWords(text);
  const candidates = OWN.filter(({ words }) => words.every((word, index) => first[index] === word));
  if (candidates.length === 0) return { kind: 'duckdb', text };
  const tokens = withoutSemicolon([...tokensOf(text)]);
  const own = candidates.find(({ isOurs }) => isOurs === undefined || isOurs(tokens));
  if (own === undefined) return { kind: 'duckdb', text };
  const cursor = createTokenCursor(text, tokens);
  checkBrackets(cursor, tokens);
  return own.read(cursor, tokens);
}

/** Without a list of tokens: a statement of DuckDB's may have megabytes of values. */
function checkEnds(text: string): void {
  for (const token of tokensOf(text)) if (token.isOpen) throw openError(text, token);
}

const MOST_WORDS = Math.max(...OWN.map(({ words }) => words.length));

/** In capitals; as many as decide whose a statement is. */
export function firstWords(text: string): string[] {
  const words: string[] = [];
  let token = nextToken(text, 0);
  while (token?.kind === 'word' && words.length < MOST_WORDS) {
    words.push(token.value);
    token = nextToken(text, token.end);
  }
  return words;
}

function withoutSemicolon(tokens: Token[]): Token[] {
  while (tokens.at(-1)?.text === ';') tokens.pop();
  return tokens;
}

const STOP_ADVICE = 'Write STOP CRAWL, or STOP CRAWL INTO and the name of its table. SHOW CRAWLS lists them.';

function readStop(cursor: TokenCursor): StopCrawl {
  cursor.needWord('STOP', 'at the beginning', STOP_ADVICE);
  cursor.needWord('CRAWL', 'after STOP', STOP_ADVICE);
  const target = cursor.skipWord('INTO') ? readTableName(cursor, CLAUSE_WORDS) : null;
  if (cursor.peek() !== undefined)
    throw cursor.unexpected(
      `after ${cursor.last()?.text}`,
      target === null ? 'INTO or the end' : 'the end',
      STOP_ADVICE,
    );
  return { kind: 'stop-crawl', target };
}

function refuseAnalyze(cursor: TokenCursor): never {
  cursor.take();
  throw cursor.unexpected(
    'between EXPLAIN and CRAWL',
    'CRAWL',
    'Write EXPLAIN CRAWL: it makes no request, so there is nothing to measure.',
  );
}

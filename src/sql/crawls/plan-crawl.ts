/**
 * A CRAWL statement before its first request: options, condition, table and input, all checked. Whatever is wrong is said
 * here, with its place; nothing is requested and no row is written.
 */
import type { Config } from '../../config/load-config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { wireNormalizer } from '../../crawl/wire.ts';
import { usesWeb } from '../functions/uses-web.ts';
import {
  type OwnOptions,
  resolveOptions,
  type SessionSettings,
  type ShownOption,
} from '../language/crawl-options.ts';
import { columnTypeOf, ruleOf } from '../language/extract-rule.ts';
import type { TextPart } from '../language/place.ts';
import type { CrawlStatement } from '../language/read-crawl.ts';
import { rewriteSettings } from '../language/rewrite-settings.ts';
import type { SqlParameters } from '../sql-session.ts';
import type { TargetPlan } from '../table/target-plan.ts';
import { withPlace } from '../thread/duckdb-errors.ts';
import type { ThreadClient } from '../thread/thread-client.ts';
import type { CheckedCondition } from '../where/check-condition.ts';
import { type CompiledCondition, compileCondition } from '../where/compile-condition.ts';
import { type CrawlInput, createInputReader } from './read-input.ts';

export interface PlanRequest {
  statement: CrawlStatement;
  /** The statement as it stands in the script: places are counted in it. */
  text: string;
  parameters: SqlParameters | undefined;
  /** Its number in the thread. */
  number: number;
  crawl: number;
  /** Only looked at: no table is made. */
  isDry: boolean;
  isInTransaction: boolean;
  settings: SessionSettings;
}

export interface CrawlCondition {
  /** As DuckDB is asked. */
  text: string;
  /** As it stands in the statement. */
  written: string;
  /** Null: DuckDB is asked. */
  test: CompiledCondition | null;
}

export interface CrawlPlan {
  query: string;
  /** Options of the crawl, as a program would give them. */
  options: Record<string, unknown>;
  config: Config;
  own: OwnOptions;
  shown: readonly ShownOption[];
  target: TargetPlan;
  condition: CrawlCondition | null;
  input: CrawlInput;
  /** False where EXPLAIN leaves a query alone that asks the web. */
  isInputRead: boolean;
}

export async function planCrawl(thread: ThreadClient, request: PlanRequest): Promise<CrawlPlan> {
  const { statement, text, parameters, number, crawl, isDry, isInTransaction } = request;
  const query = asDuckDbReads(statement.query);
  const placed = within(text);
  const { config: given, own, shown } = resolveOptions(statement.options, request.settings);
  const options = { profile: 'sql' as const, ...given };
  const config = await loadConfig({ env: {}, options });
  await placed(query, () => thread.ask('checkInput', { query: query.text }));
  const condition =
    statement.condition === null
      ? null
      : await placed(asDuckDbReads(statement.condition), readCondition(thread, own.background));
  const target = await thread.ask<TargetPlan>('openCrawl', {
    crawl,
    isDry,
    isBackground: own.background,
    asked: condition === null || condition.test !== null ? null : condition.text,
    isInTransaction,
    target: statement.target,
    rules: statement.extract.map(ruleOf),
    extracted: statement.extract.map((item) => ({
      name: item.name,
      type: item.type === null ? null : { text: item.type },
      otherwise: columnTypeOf(item),
    })),
  });
  const reader = createInputReader({
    normalize: (url) => normalizer.normalize(url),
    sitemaps: own.sitemaps,
    followsLinks: own.followLinks,
  });
  const normalizer = wireNormalizer(config);
  // What would ask the web is not run to be explained.
  const isRead = !(isDry && usesWeb(query.text));
  if (isRead)
    await placed(query, () =>
      thread.askForPieces<(string | null)[], void>(
        'readInput',
        { query: query.text, parameters, statement: number },
        (texts) => texts.forEach(reader.add),
      ),
    );
  return {
    query: statement.query.text,
    options,
    config,
    own,
    shown,
    target,
    condition,
    input: reader.input,
    isInputRead: isRead,
  };
}

/** A part of the statement as DuckDB is given it. */
interface ReadPart extends TextPart {
  written: string;
  toOriginal: (offset: number) => number;
}

function asDuckDbReads({ text, start }: TextPart): ReadPart {
  return { ...rewriteSettings(text), written: text, start };
}

const readCondition =
  (thread: ThreadClient, isBackground: boolean) =>
  async ({ text, written }: ReadPart): Promise<CrawlCondition> => {
    const { ast } = await thread.ask<CheckedCondition>('checkCondition', { condition: text, isBackground });
    return { text, written, test: compileCondition(ast) };
  };

/** A place inside a part of the statement becomes one of the statement. */
const within =
  (statement: string) =>
  async <T>(part: ReadPart, work: (part: ReadPart) => Promise<T>): Promise<T> => {
    try {
      return await work(part);
    } catch (error) {
      throw withPlace(error, statement, (offset) => part.toOriginal(offset) + part.start);
    }
  };

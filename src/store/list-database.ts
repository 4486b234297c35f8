/** What the lists need of a database: a way to ask, the few words in which the two differ, and rows by their ids. */
import type { LinkBetween, PageRow, ProjectRow, RunRow } from './read-rows.ts';

export interface ListDatabase {
  /** Values stand as `?`, in order. */
  ask<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  dialect: ListDialect;
  /** In any order; what is gone by now is left out. */
  pages(ids: readonly number[]): Promise<PageRow[]>;
  runs(ids: readonly number[]): Promise<RunRow[]>;
  projects(ids: readonly number[]): Promise<ProjectRow[]>;
  /** The links that these pages have, seen from the page they lead to when `isInward`. */
  links(
    fromIds: readonly number[],
    to: { has(id: number): boolean },
    isInward: boolean,
  ): Promise<LinkBetween[]>;
  /** The pages that may link to this one, in order, none missing; null where only the link sets themselves know. */
  sourcesOf(pageId: number): Promise<readonly number[] | null>;
  /** From the set of this page on, or up to and with it backwards. */
  linkSets(from: number, isForward: boolean, count: number): Promise<LinkTargetsOf[]>;
}

export interface LinkTargetsOf {
  pageId: number;
  /** Each once, in any order. */
  targets: readonly number[];
}

export interface ListDialect {
  /** Beside the equality of page ids, where the tables of a page are divided by its host. */
  sameHost(one: string, other: string): string;
  /** The column that such an equality needs of a choice of pages, after a comma; empty where it needs none. */
  hostColumn: string;
  /** Letters of ASCII made small, all others left. */
  lower(text: string): string;
  /** The place of a part in a text, from 1; 0 where there is none. */
  place(text: string, part: string): string;
  /** The column in the order of the bytes of UTF-8. */
  byBytes(column: string): string;
  /** The host of the URL of `u` with its port, if it has one. */
  site: string;
  /** Ids of the pages that have all of these words, as `page_id`, with their `hostColumn`. */
  pagesWith(words: readonly string[]): { sql: string; values: unknown[] };
  /** Whether the page `u` has all of these words. */
  hasWords(words: readonly string[]): { sql: string; values: unknown[] };
  /** Whether the row `l` of link_set has this target. */
  hasTarget(target: number): { sql: string; values: unknown[] };
  /** An index finds the requests for a page. */
  findsRequestsByPage: boolean;
  /** An index finds the URLs of a host. */
  findsUrlsByHost: boolean;
  /** Asks which of so many names are indexes that are there. */
  indexesAmong(count: number): string;
}

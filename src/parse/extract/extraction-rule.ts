/**
 * Rules that take values out of a page. Rules are plain data: they cross threads and are stored. They are checked when
 * they are compiled; on a page, a rule always has an answer: a value, null, or for all matches a list.
 */
import { type CompiledSelector, compileSelector } from './compile-selector.ts';
import { htmlOf } from './html-of.ts';
import { attributeOf, type PageDocument, type PageElement } from './page-tree.ts';
import type { JsonValue } from './read-loose-json.ts';
import { metaOf, openGraphOf, readLinkedData, valueAtPath } from './structured-data.ts';
import { textOf } from './text-of.ts';

/** What is taken of an element: its text, its HTML with its own tag, or an attribute as written. */
export type Take =
  | { readonly take: 'text' | 'html' }
  | { readonly take: 'attribute'; readonly attribute: string };

export type ExtractionRule =
  | ({ kind: 'css'; selector: string; isAll: boolean } & Take)
  | { kind: 'jsonld'; path: readonly string[] }
  | { kind: 'og'; name: string }
  | { kind: 'meta'; name: string };

export type ExtractedValue = string | string[] | JsonValue | null;

/** Why a rule has no answer for a page; the value is then null, or an empty list. */
export type ExtractionProblem = 'too-much-work' | 'too-large';

export interface CompiledRules {
  readonly rules: readonly CompiledRule[];
}

interface CompiledRule {
  isAll: boolean;
  read(page: PageFacts): ExtractedValue | Failure;
}

/** What several rules need of one page. */
interface PageFacts {
  document: PageDocument;
  linkedData(): JsonValue[];
}

/** Characters that one rule gives for one page: elements inside of each other would repeat a page 500 times. */
const MOST_CHARACTERS = 1 << 24;

/** Throws `selector-invalid` for a selector that cannot be used. */
export function compileRules(rules: readonly ExtractionRule[]): CompiledRules {
  return { rules: rules.map(compileRule) };
}

/** One value a rule, in the order of the rules. `onProblem` hears of rules that could not be answered. */
export function extract(
  document: PageDocument,
  compiled: CompiledRules,
  onProblem?: (rule: number, problem: ExtractionProblem) => void,
): ExtractedValue[] {
  let blocks: JsonValue[] | null = null;
  const page: PageFacts = {
    document,
    linkedData() {
      blocks ??= readLinkedData(document);
      return blocks;
    },
  };
  return compiled.rules.map((rule, index) => {
    const value = rule.read(page);
    if (!(value instanceof Failure)) return value;
    onProblem?.(index, value.problem);
    return rule.isAll ? [] : null;
  });
}

/** A class, because a page's data may be any object. */
class Failure {
  readonly problem: ExtractionProblem;

  constructor(problem: ExtractionProblem) {
    this.problem = problem;
  }
}

function compileRule(rule: ExtractionRule): CompiledRule {
  switch (rule.kind) {
    case 'css':
      return compileCss(rule);
    case 'jsonld':
      return { isAll: false, read: (page) => valueAtPath(page.linkedData(), rule.path) };
    case 'og':
      return { isAll: false, read: ({ document }) => openGraphOf(document, rule.name) };
    case 'meta':
      return { isAll: false, read: ({ document }) => metaOf(document, rule.name) };
  }
}

function compileCss(rule: ExtractionRule & { kind: 'css' }): CompiledRule {
  const selector = compileSelector(rule.selector);
  return {
    isAll: rule.isAll,
    read({ document }) {
      const values = takeAll(selector, document, rule, rule.isAll ? undefined : 1);
      if (typeof values === 'string') return new Failure(values);
      return rule.isAll ? values : (values[0] ?? null);
    },
  };
}

/** What the matching elements give, in the order of the page. Elements without the attribute give nothing. */
export function takeAll(
  selector: CompiledSelector,
  document: PageDocument,
  take: Take,
  wanted = Number.POSITIVE_INFINITY,
): string[] | ExtractionProblem {
  // The first element may lack the attribute.
  const elements = selector.select(document, take.take === 'attribute' ? undefined : wanted);
  if (elements === null) return 'too-much-work';
  const values: string[] = [];
  let room = MOST_CHARACTERS;
  for (const element of elements) {
    if (values.length >= wanted) break;
    const value = takeOne(element, take, room);
    if (value === null && take.take === 'attribute') continue;
    if (value === null || value.length > room) return 'too-large';
    room -= value.length;
    values.push(value);
  }
  return values;
}

/** Null for an attribute that is absent, and for HTML that is longer than `room`. */
function takeOne(element: PageElement, take: Take, room: number): string | null {
  if (take.take === 'attribute') return attributeOf(element, take.attribute.toLowerCase());
  return take.take === 'html' ? htmlOf(element, room) : textOf(element);
}

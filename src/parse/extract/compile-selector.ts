/**
 * CSS selectors over a page's tree: all that css-select offers, with a bound on the work for one page.
 * A selector that cannot be used is an error when it is compiled. On a page, it always has an answer.
 */
import { compile, type Options } from 'css-select';
import { sumiError } from '../../errors.ts';
import { attributeOf, type PageDocument, type PageElement, type PageNode } from './page-tree.ts';
import { createSiblingPseudos } from './sibling-pseudos.ts';
import { rawText } from './text-of.ts';

export interface CompiledSelector {
  /**
   * The elements in the order of the page; with `wanted`, only so many. Null if the page and the selector together are too
   * much work: then nobody knows.
   */
  select(document: PageDocument, wanted?: number): PageElement[] | null;
}

/** Steps from one element to another that one selector may take on one page: some tenths of a second. */
const MOST_STEPS = 30_000_000;
const LONGEST = 10_000;

/** Thrown by a step and caught in this file. */
class TooMuchWork extends Error {}

const ADVICE: readonly [RegExp, string][] = [
  [/pseudo-element/i, 'Take the text, the HTML or an attribute of the element instead of ::text or ::attr()'],
  [
    /pseudo-class :(?:eq|first|last|gt|lt|even|odd|nth)\b/,
    'Use :nth-child(), :first-child or :nth-of-type()',
  ],
];

export function compileSelector(selector: string): CompiledSelector {
  let steps = 0;
  const step = (count: number): void => {
    steps += count;
    if (steps > MOST_STEPS) throw new TooMuchWork();
  };
  const options = createOptions(step);
  let matches: (element: PageElement) => boolean;
  try {
    if (selector.trim() === '') throw new Error('it is empty');
    if (selector.length > LONGEST) throw new Error(`it has more than ${LONGEST} characters`);
    if (/(?<!\\)[>+~<]\s*$/.test(selector)) throw new Error('nothing stands behind its last sign');
    // Only css-select's own pseudo-classes check their values before there is a page.
    compile<PageNode, PageElement>(selector, { ...options, pseudos: undefined });
    options.pseudos = createSiblingPseudos((inner) => compile<PageNode, PageElement>(inner, options));
    matches = compile<PageNode, PageElement>(selector, options);
  } catch (error) {
    throw invalidSelector(selector, error);
  }
  return {
    select({ elements }, wanted = Number.POSITIVE_INFINITY) {
      const found: PageElement[] = [];
      steps = 0;
      try {
        for (const element of elements) {
          if (!matches(element)) continue;
          found.push(element);
          if (found.length >= wanted) break;
        }
      } catch (error) {
        if (error instanceof TooMuchWork) return null;
        throw error;
      }
      return found;
    },
  };
}

function invalidSelector(selector: string, error: unknown) {
  const said = error instanceof Error ? error.message : String(error);
  const problem = error instanceof RangeError ? 'it is nested too deeply' : said.replace(/[.\s]+$/, '');
  const advice = ADVICE.find(([pattern]) => pattern.test(said))?.[1] ?? 'Write it as in a style sheet';
  const shown = selector.length > 200 ? `${selector.slice(0, 200)}…` : selector;
  return sumiError('selector-invalid', { selector: shown, problem, advice });
}

function createOptions(step: (count: number) => void): Options<PageNode, PageElement> {
  const isTag = (node: PageNode): node is PageElement => {
    step(1);
    return node.kind === 'element';
  };
  const childrenOf = (node: PageNode): PageNode[] => (node.kind === 'element' ? node.children : []);
  return {
    adapter: {
      isTag,
      getAttributeValue: (element, name) => attributeOf(element, name) ?? undefined,
      hasAttrib: (element, name) => attributeOf(element, name) !== null,
      getChildren: childrenOf,
      getName: (element) => element.name,
      getParent: (element) => element.parent,
      getSiblings(node) {
        const siblings = node.kind === 'element' && node.parent !== null ? node.parent.children : [node];
        // Some callers copy the list, which is quick, but not free.
        step(1 + (siblings.length >> 5));
        return siblings;
      },
      prevElementSibling: (node) => (node.kind === 'element' ? node.previous : null),
      getText(node) {
        if (node.kind === 'text') return node.text;
        const text = rawText(node);
        step(1 + (text.length >> 4));
        return text;
      },
      // Documents are asked by `select` here, never by css-select's own search.
      removeSubsets: (nodes) => nodes,
    },
  };
}

/**
 * Questions about HTML that is at hand as text. One page is mostly asked several times in a row, so the documents of the
 * last few texts are kept, as long as they are not too large, and so are selectors. Promises an answer for any text.
 */
import { type CompiledSelector, compileSelector } from './compile-selector.ts';
import { type Take, takeAll } from './extraction-rule.ts';
import { type HtmlLink, linksOf } from './html-links.ts';
import { type HtmlTable, tablesOf } from './html-tables.ts';
import type { PageDocument } from './page-tree.ts';
import type { DocumentReader } from './read-document.ts';
import { textOf } from './text-of.ts';

export interface HtmlQuestions {
  /** The text of the whole body, blocks on lines of their own. */
  htmlText(html: string): string;
  /** Relative addresses are resolved against `<base>` and `address`, if there is one. */
  htmlLinks(html: string, address?: string | null): HtmlLink[];
  htmlTables(html: string): HtmlTable[];
  /** Throws `selector-invalid`. Empty too if page and selector together are too much work. */
  selectCss(html: string, selector: string, take: Take): string[];
}

const MOST_DOCUMENTS = 4;
/** Of all texts whose documents are kept; a document takes ten times as much memory. The last one is always kept. */
const MOST_CHARACTERS = 8_000_000;
const MOST_SELECTORS = 100;

export function createHtmlQuestions(readDocument: DocumentReader): HtmlQuestions {
  /** The last one first. */
  const kept: { html: string; document: PageDocument }[] = [];
  const selectors = new Map<string, CompiledSelector>();

  function documentOf(html: string): PageDocument {
    // Texts of different lengths are told apart at once.
    const index = kept.findIndex((entry) => entry.html === html);
    const [entry] = index < 0 ? [{ html, document: readDocument(html) }] : kept.splice(index, 1);
    kept.unshift(entry);
    kept.length = Math.min(kept.length, MOST_DOCUMENTS);
    let characters = kept.reduce((sum, one) => sum + one.html.length, 0);
    while (kept.length > 1 && characters > MOST_CHARACTERS) characters -= kept.pop()!.html.length;
    return entry.document;
  }

  function selectorOf(text: string): CompiledSelector {
    let selector = selectors.get(text);
    if (selector === undefined) {
      selector = compileSelector(text);
      if (selectors.size >= MOST_SELECTORS) selectors.delete(selectors.keys().next().value as string);
      selectors.set(text, selector);
    }
    return selector;
  }

  return {
    htmlText: (html) => textOf(documentOf(html).body),
    htmlLinks: (html, address = null) => linksOf(documentOf(html), address),
    htmlTables: (html) => tablesOf(documentOf(html)),
    selectCss(html, selector, take) {
      const values = takeAll(selectorOf(selector), documentOf(html), take);
      return typeof values === 'string' ? [] : values;
    },
  };
}

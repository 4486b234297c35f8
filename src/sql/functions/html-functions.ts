/** Functions that read HTML that is at hand, as text or as bytes. They ask the web for nothing. */
import {
  BOOLEAN,
  DuckDBListValue,
  type DuckDBScalarFunction,
  DuckDBStructValue,
  type DuckDBType,
  type DuckDBValue,
  LIST,
  STRUCT,
  VARCHAR,
} from '@duckdb/node-api';
import type { Take } from '../../parse/extract/extraction-rule.ts';
import { createHtmlQuestions, type HtmlQuestions } from '../../parse/extract/html-questions.ts';
import { createDocumentReader } from '../../parse/extract/read-document.ts';
import { createBodyReader } from '../table/body-text.ts';
import { pageOf, textOf, wholeOf, wrongArgument } from './arguments.ts';
import type { FunctionErrors } from './function-errors.ts';
import { makeScalar, rowByRow } from './scalar-function.ts';

const LINK = STRUCT({ url: VARCHAR, href: VARCHAR, text: VARCHAR, rel: VARCHAR, nofollow: BOOLEAN });

export function htmlFunctions(errors: FunctionErrors): DuckDBScalarFunction[] {
  const questions = createHtmlQuestions(createDocumentReader());
  const readBytes = createBodyReader();

  /** The first argument is the page; without one there is no answer. */
  function ofPage(
    call: string,
    { takes, returns }: { takes: number; returns: DuckDBType },
    answer: (html: string, read: (argument: number) => DuckDBValue) => DuckDBValue,
  ): DuckDBScalarFunction {
    const place = { call: `${call}()`, name: 'html' };
    const request = {
      takes,
      returns,
      answer: rowByRow((read) => {
        const page = pageOf(read(0), place);
        if (page === null) return null;
        const html =
          typeof page === 'string'
            ? page
            : readBytes({ body: page, charset: null, contentType: 'text/html' });
        return html === null ? null : answer(html, read);
      }),
    };
    return makeScalar(`sumi_${call}`, request, errors);
  }

  return [
    ofPage('html_text', { takes: 1, returns: VARCHAR }, (html) => questions.htmlText(html)),
    ofPage('html_links', { takes: 2, returns: LIST(LINK) }, (html, read) => {
      const address = textOf(read(1), { call: 'html_links()', name: 'base' });
      const links = questions.htmlLinks(html, address);
      return new DuckDBListValue(
        links.map(
          ({ url, href, text, rel, isNofollow }) =>
            new DuckDBStructValue({ url, href, text, rel, nofollow: isNofollow }),
        ),
      );
    }),
    ofPage('html_table', { takes: 2, returns: LIST(LIST(VARCHAR)) }, (html, read) => {
      const place = { call: 'html_table()', name: 'n' };
      const nth = wholeOf(read(1), place) ?? 1;
      if (nth < 1) throw wrongArgument(place, nth, 'the number of a table, from 1');
      return tableOf(questions, html, nth);
    }),
    ofPage('css_select', { takes: 3, returns: LIST(VARCHAR) }, (html, read) => {
      const selector = textOf(read(1), { call: 'css_select()', name: 'selector' });
      if (selector === null) return null;
      const name = textOf(read(2), { call: 'css_select()', name: 'attr' });
      const take: Take = name === null ? { take: 'text' } : { take: 'attribute', attribute: name };
      return new DuckDBListValue(questions.selectCss(html, selector, take));
    }),
  ];
}

/** The header is the first row. */
function tableOf(questions: HtmlQuestions, html: string, nth: number): DuckDBListValue | null {
  const table = questions.htmlTables(html)[nth - 1];
  if (table === undefined) return null;
  const rows = table.header.length === 0 ? table.rows : [table.header, ...table.rows];
  return new DuckDBListValue(rows.map((row) => new DuckDBListValue(row)));
}

/** The values of EXTRACT for the rows of one CRAWL: each page is parsed once for all rules. */
import { compileRules, type ExtractionRule, extract } from '../../parse/extract/extraction-rule.ts';
import { createDocumentReader } from '../../parse/extract/read-document.ts';
import type { ExtractValues } from '../table/row-filler.ts';

export function extractValues(rules: readonly ExtractionRule[]): ExtractValues {
  const compiled = compileRules(rules);
  const readDocument = createDocumentReader();
  return ({ body, contentType, charset }) =>
    body === null ? rules.map(() => null) : extract(readDocument(body, { contentType, charset }), compiled);
}

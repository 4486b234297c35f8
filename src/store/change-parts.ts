/** What of a page changed, as one number: a bit a word of CHANGE_PARTS, for every adapter and its views. */
import { CHANGE_PARTS, type ChangePart, type PageChange } from '../change/visit-record.ts';

/** What changed, as `page_change` has it. Made at once: pieces of a diff may be views of whole texts, which must not wait for a commit. */
export interface PackedChange {
  parts: number;
  /** JSON. */
  detail: string;
}

export function packedChange(change: PageChange): PackedChange {
  return { parts: partsNumber(change.parts), detail: JSON.stringify(change) };
}

export function partsNumber(parts: readonly ChangePart[]): number {
  return parts.reduce((bits, part) => bits | (1 << CHANGE_PARTS.indexOf(part)), 0);
}

/** In the order of CHANGE_PARTS. */
export function partsOf(bits: number): ChangePart[] {
  return CHANGE_PARTS.filter((_, at) => (bits & (1 << at)) !== 0);
}

/** The words of a column of such numbers, separated by commas: SQL that both stores take. */
export function partsSql(column: string): string {
  const words = CHANGE_PARTS.map(
    (part, at) => `CASE WHEN (${column} & ${1 << at}) <> 0 THEN ',${part}' ELSE '' END`,
  );
  return `substr(${words.join(' || ')}, 2)`;
}

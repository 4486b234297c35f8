/**
 * Schema versions that add the columns of new facts: made from `since` in the table of facts, for both stores. The
 * versions before, in the stores' own lists, are history and stay as they were written.
 */
import { FACT_KINDS, FACTS } from './page-facts.ts';

type StoreName = keyof NonNullable<(typeof FACTS)[number]['since']>;

/** Stands in a list of migrations for a version that adds facts, where another version follows it. */
export const ADDS_FACTS = 'the columns of new facts';

/** The list with its versions that add facts, at its end or where ADDS_FACTS stands. */
export function withFactColumns(store: StoreName, history: readonly string[], facts = FACTS): string[] {
  const versions = [...history];
  const last = Math.max(...facts.map(({ since }) => since?.[store] ?? 0));
  while (versions.length < last) versions.push(ADDS_FACTS);
  return versions.map((text, i) => {
    const columns = facts
      .filter(({ since }) => since?.[store] === i + 1)
      .map(({ column, kind }) => ({ column, type: FACT_KINDS[kind][store] }));
    if (text !== ADDS_FACTS) {
      const forgotten = columns.find(({ column }) => !text.includes(`ADD COLUMN ${column} `));
      if (forgotten === undefined) return text;
      throw new Error(
        `version ${i + 1} of ${store} has no column ${forgotten.column}: put ADDS_FACTS in its place`,
      );
    }
    if (columns.length === 0) throw new Error(`no fact came with version ${i + 1} of ${store}`);
    return columns.map(({ column, type }) => `ALTER TABLE fetched ADD COLUMN ${column} ${type};`).join('\n');
  });
}

/** For a SELECT from an SQLite file of that version: the columns that it lacks, empty. */
export function missingColumns(version: number): string[] {
  return FACTS.filter(({ since }) => since !== undefined && since.sqlite > version).map(
    ({ column, empty }) => `${empty === 0 ? 0 : 'NULL'} AS ${column}`,
  );
}

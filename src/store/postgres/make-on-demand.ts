/**
 * Tables and indexes that are made when they are needed first. Two runs that end at the same moment both need them, and
 * IF NOT EXISTS alone does not keep them apart: one waits for the other.
 */
import { type Attempting, ask, transaction } from './session.ts';

export async function makeOnDemand(database: Attempting, statements: readonly string[]): Promise<void> {
  await transaction(database, async (tx) => {
    await ask(tx, "SELECT pg_advisory_xact_lock(hashtextextended('sumi tables on demand', 0))", []);
    for (const text of statements) await ask(tx, text, []);
  });
}

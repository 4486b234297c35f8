/** How a command that is told to the reader names the store of this one. */
import type { Config } from '../config/load-config.ts';
import { OPTIONS } from '../config/option-table.ts';
import { shellWord } from '../render/render-summary.ts';

export type StoreChoice = Pick<Config, 'store' | 'db' | 'storeAddress' | 'storeLabel' | 'sources'>;

/** With a space before it; empty for what is taken anyway. Never with a password. */
export function storeFlag({ store, db, storeLabel, sources }: StoreChoice): string {
  if (store === null) return db === OPTIONS.db.default ? '' : ` --db ${shellWord(db)}`;
  return sources.store.from.startsWith('env ') ? '' : ` --store ${shellWord(storeLabel)}`;
}

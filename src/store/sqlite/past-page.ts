/** What is stored of a page, put together for comparison: only asked where a visit found something else. */
import type { Database } from 'better-sqlite3';
import type { PastPage } from '../../change/visit-record.ts';
import { COMPARED, type PastFacts } from '../page-facts.ts';

/** As the file has it: flags are numbers. */
type PastRow = Record<string, unknown> & Pick<PastPage, 'text' | 'redirectTo'> & { wasRead: number };

const COLUMNS = COMPARED.map(({ name, column }) => `f.${column} AS ${name}`).join(', ');
const FLAGS = COMPARED.filter(({ kind }) => kind === 'flag').map(({ name }) => name);

export function createPastReader(db: Database): (pageId: number, withLinks: boolean) => PastPage | null {
  const read = db.prepare(
    `SELECT ${COLUMNS}, t.text, r.url AS redirectTo,
       f.content_hash IS NOT NULL OR f.facet_hash IS NOT NULL OR f.redirect_to IS NOT NULL AS wasRead
     FROM fetched f LEFT JOIN page_text t ON t.page_id = f.page_id LEFT JOIN url r ON r.id = f.redirect_to
     WHERE f.page_id = ?`,
  );
  // CROSS JOIN keeps the order of the set.
  const links = db
    .prepare(
      `SELECT u.url FROM link_set l CROSS JOIN json_each(l.targets) j CROSS JOIN url u ON u.id = j.value
       WHERE l.page_id = ? ORDER BY j.key`,
    )
    .pluck();
  return (pageId, withLinks) => {
    const row = read.get(pageId) as PastRow | undefined;
    if (row === undefined || row.wasRead === 0) return null;
    const { wasRead: _, ...facts } = row;
    for (const name of FLAGS) facts[name] = facts[name] === null ? null : facts[name] === 1;
    return {
      ...(facts as typeof facts & PastFacts),
      links: withLinks ? (links.all(pageId) as string[]) : [],
    };
  };
}

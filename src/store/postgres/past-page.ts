/** What is stored of a page, to be compared with what a visit found: one statement, asked only when something differs. */
import type { PastPage } from '../../change/visit-record.ts';
import { COMPARED } from '../page-facts.ts';
import { ask, type Session } from './session.ts';

const COLUMNS = COMPARED.map(
  ({ name, column, kind }) => `f.${column}${kind === 'flag' ? ' <> 0' : ''} AS "${name}"`,
).join(', ');

const PAST = `
SELECT ${COLUMNS}, t.text,
  COALESCE((SELECT array_agg(x.url ORDER BY j.n)
    FROM link_set l, unnest(l.targets) WITH ORDINALITY AS j(id, n) JOIN url x ON x.id = j.id
    WHERE $2::boolean AND l.page_id = f.page_id AND l.host_id = f.host_id), '{}') AS links,
  (SELECT x.url FROM url x WHERE x.id = f.redirect_to AND x.host_id = f.redirect_host) AS "redirectTo"
FROM fetched f LEFT JOIN page_text t ON t.page_id = f.page_id AND t.host_id = f.host_id
WHERE f.page_id = $1 AND (f.content_hash IS NOT NULL OR f.facet_hash IS NOT NULL OR f.redirect_to IS NOT NULL)`;

export async function readPast(
  session: Session,
  pageId: number,
  withLinks: boolean,
): Promise<PastPage | null> {
  // What this worker settled itself may still be on its way.
  if (session.window.group.byPage.has(pageId)) await session.window.flush();
  else await session.window.rest();
  const [past] = await session.attempt((sql) => ask<PastPage>(sql, PAST, [pageId, withLinks]));
  return past ?? null;
}

/** What became of a URL and which rule decided, as data. No request is made. */
import { OPTIONS } from '../config/option-table.ts';
import { withoutCredentials } from '../config/url-credentials.ts';
import { readRate } from '../config/watch-values.ts';
import type { Why } from '../contract/site.ts';
import { sumiError } from '../errors.ts';
import type { PageState } from '../frontier/page-state.ts';
import { type Explanation, explainPage } from '../project/explain-page.ts';
import { findPages } from '../project/find-pages.ts';
import type { PageRow, ProjectRow } from '../store/read-side.ts';
import type { Answering } from './answering.ts';
import { pageUid } from './page-uid.ts';
import { describeVisit } from './read-page-parts.ts';
import { readingOf } from './reading-of.ts';

type Asked = Pick<Answering, 'side' | 'storeLabel'>;

/** In any spelling; a URL that the project does not know is an error. */
export async function explainUrlOf(
  asked: Asked,
  project: ProjectRow,
  url: string,
  now: number,
): Promise<Why> {
  const [page] = await findPages(readingOf(asked, project), url);
  if (page === undefined)
    throw sumiError('unknown-url', { url: withoutCredentials(url), file: `the project ${project.uid}` });
  return explainPageOf(asked, project, page, now);
}

export async function explainPageOf(
  { side }: Asked,
  project: ProjectRow,
  page: PageRow,
  now: number,
): Promise<Why> {
  const { plan } = await side.revisitPlan(project.id);
  const known = plan === null ? await side.count('pages', { project: project.project }) : null;
  const explained = await explainPage(side, page, {
    now,
    kind: undefined,
    // The option table has checked it.
    visitsPerDay: readRate(String(OPTIONS.budget.default))!,
    withoutRevisit: known !== null && !known.isExact,
  });
  return describeWhy(explained, project, page);
}

function describeWhy(explained: Explanation, project: ProjectRow, page: PageRow): Why {
  const { referrers, revisit, state, visits, requests, ...told } = explained;
  return {
    page_id: pageUid(project.uid, page.id),
    project_id: project.uid,
    url: told.url,
    fetch_url: told.fetch_url,
    state: state as PageState,
    reason: told.reason,
    depth: told.depth,
    discovered_run: told.discovered_run,
    discovered_at: told.discovered_at,
    path: referrers,
    redirects: told.redirects,
    final_url: told.final_url,
    status_code: told.status_code,
    title: told.title,
    visited_at: told.visited_at,
    attempts: told.attempts,
    retry_at: told.retry_at,
    robots: told.robots,
    left_out: told.left_out,
    requests,
    requests_total: told.requests_total,
    visits: visits.map(describeVisit),
    visits_total: told.visits_total,
    change_frequency: told.change_frequency,
    changes_detected: told.changes_detected,
    next_visit:
      revisit === null
        ? null
        : {
            rule: revisit.rule,
            at: revisit.next_visit,
            interval_days: revisit.interval_days,
            rate_per_day: revisit.rate_per_day,
            chance_changed: revisit.chance_changed,
            is_watched: revisit.is_watched,
          },
  };
}

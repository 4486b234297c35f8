/** The page of a project that a program names by its URL, in any spelling. */
import { withoutCredentials } from '../config/url-credentials.ts';
import { sumiError } from '../errors.ts';
import { findPages } from '../project/find-pages.ts';
import type { PageRow, ProjectRow } from '../store/read-side.ts';
import type { Answering } from './answering.ts';
import { readingOf } from './reading-of.ts';

export async function findPageByUrl(
  asked: Pick<Answering, 'side' | 'storeLabel'>,
  project: ProjectRow,
  url: string,
): Promise<PageRow> {
  const [page] = await findPages(readingOf(asked, project), url);
  if (page !== undefined) return page;
  throw sumiError('unknown-url', { url: withoutCredentials(url), file: `the project ${project.uid}` });
}

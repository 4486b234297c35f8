/** What the pages of a project come to, as its last run left them: for lists of projects, which count nothing themselves. */
import type { SummaryEvent } from '../events/events.ts';
import type { UrlCounts } from '../frontier/counting-words.ts';
import type { RecordPort } from '../store/record-port.ts';

export interface ProjectCounts extends UrlCounts {
  by_state: Record<string, number>;
  /** The run at whose end they were counted. */
  of_run: number;
}

const KEY = 'pages';

export async function keepCounts(
  records: Pick<RecordPort, 'put'>,
  projectUid: string,
  summary: SummaryEvent,
): Promise<void> {
  const { run, by_state, known_urls, read, broken, rate_limited, skipped, waiting } = summary;
  const counts: ProjectCounts = {
    ...{ known_urls, read, broken, rate_limited, skipped, waiting, by_state },
    of_run: run,
  };
  await records.put('counts', projectUid, KEY, counts);
}

/** Null before the end of the first run in the service. */
export async function readCounts(
  records: Pick<RecordPort, 'get'>,
  projectUid: string,
): Promise<ProjectCounts | null> {
  return (await records.get<ProjectCounts>('counts', projectUid, KEY))?.value ?? null;
}

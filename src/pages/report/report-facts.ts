/** The data of the report page. Everything on it comes from here. */
import type { UrlCounts } from '../../frontier/counting-words.ts';
import type { BrokenPages } from '../../graph/read-broken-pages.ts';
import type { ChangeFigures } from '../../store/change-figures.ts';
import type { RunReport } from '../../store/run-report.ts';

export interface ReportFacts {
  project: string;
  /** Null for the whole project. */
  run: number | null;
  madeAt: number;
  version: string;
  figures: ChangeFigures;
  /** Null for a run that is not the last one: its pages were visited again. */
  broken: BrokenPages | null;
  /** Pages by state and the errors, as the run left them; without a run, as the last one did. */
  state: Pick<RunReport, 'is_latest' | 'pages_by_state' | 'errors' | 'top_errors' | keyof UrlCounts>;
}

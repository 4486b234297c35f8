/** A project or one of its runs as a page to look at. Only who asks for it loads what draws it. */
import { PROGRAM_VERSION } from '../config/program.ts';
import { countUrls } from '../frontier/counting-words.ts';
import { readBrokenPages } from '../graph/read-broken-pages.ts';
import type { Reading } from './reading.ts';
import { findReportedRun, unknownRun } from './report-on-run.ts';

/** `id` undefined: the whole history of the project that was crawled last. `now`: wall time, for the foot of the page. */
export async function drawReport(reading: Reading, id: number | undefined, now: number): Promise<string> {
  const { side } = reading;
  const isWhole = id === undefined;
  const run = await findReportedRun(reading, id);
  const project = (await side.projects()).find((row) => row.project === run.project);
  const state = await side.report(run.run);
  // Another process has deleted it meanwhile.
  if (project === undefined || state === null) throw unknownRun(reading, id);
  const { renderReportPage } = await import('../pages/report/render-report-page.ts');
  const figures = await side.changeFigures(project.id, isWhole ? null : run.run);
  return await renderReportPage({
    project: run.project,
    run: isWhole ? null : run.run,
    madeAt: now,
    version: PROGRAM_VERSION,
    figures,
    broken: state.is_latest ? await readBrokenPages(side, run.project, figures.known) : null,
    state: {
      is_latest: state.is_latest,
      pages_by_state: state.pages_by_state,
      ...countUrls(state.pages_by_state),
      errors: state.errors,
      top_errors: state.top_errors,
    },
  });
}

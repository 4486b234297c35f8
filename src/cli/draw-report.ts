/** A project or one of its runs as a page to look at. Only who asks for it loads what draws it. */
import { PROGRAM_VERSION } from '../config/program.ts';
import { countUrls } from '../frontier/counting-words.ts';
import { readBrokenPages } from '../graph/read-broken-pages.ts';
import type { ReadSide, StoredRun } from '../store/read-side.ts';

/** `run` is the one asked about, or the project's last; null when the store has lost it meanwhile. */
export async function drawReport(side: ReadSide, run: StoredRun, isWhole: boolean): Promise<string | null> {
  const project = (await side.projects()).find((row) => row.project === run.project);
  const state = await side.report(run.run);
  if (project === undefined || state === null) return null;
  const { renderReportPage } = await import('../pages/report/render-report-page.ts');
  const figures = await side.changeFigures(project.id, isWhole ? null : run.run);
  return await renderReportPage({
    project: run.project,
    run: isWhole ? null : run.run,
    madeAt: Date.now(),
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

/** The thread that answers one long question about a project (ask-project.ts), a piece whenever it is asked for one. */
import { parentPort, workerData } from 'node:worker_threads';
import { packError } from '../primitives/travelling-error.ts';
import { exportLinkGraph } from '../project/export-link-graph.ts';
import { openReadSide } from '../store/open-store.ts';
import type { ReadSide } from '../store/read-side.ts';
import type { FromProjectThread, ProjectThreadData } from './project-thread-messages.ts';
import { auditProject, readGraph } from './read-site.ts';
import { readingOf } from './reading-of.ts';

const { address, storeLabel, project, question } = workerData as ProjectThreadData;
const port = parentPort!;
const say = (message: FromProjectThread) => port.postMessage(message);

async function* answer(): AsyncGenerator<unknown> {
  const side = await openReadSide(address);
  try {
    yield* answerWith(side);
  } finally {
    await side.close();
  }
}

async function* answerWith(side: ReadSide): AsyncGenerator<unknown> {
  const asked = { side, storeLabel };
  if (question.ask === 'graph') yield await readGraph(asked, project, question.graph, question.now);
  else if (question.ask === 'audit') yield await auditProject(asked, project, question.run);
  else {
    const { of, format, table } = question;
    const { files } = await exportLinkGraph(readingOf(asked, project), { of, format });
    yield* (files.find(({ holds }) => holds === table) ?? files[0]).pieces;
  }
}

const pieces = answer();

port.on('message', async () => {
  try {
    const { done, value } = await pieces.next();
    say(done === true ? 'over' : { piece: value });
    if (done === true) port.close();
  } catch (error) {
    say({ error: packError(error) });
    port.close();
  }
});

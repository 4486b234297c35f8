/** A project as a file, sent while it is made. A connection that fails midway ends: half a file never looks like a whole one. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { exportProject } from '../../answers/export-project.ts';
import { findProject } from '../../answers/find-project.ts';
import { readLinksQuestion } from '../../answers/read-links-question.ts';
import { MEDIA_TYPES } from '../../contract/export.ts';
import { exportQuery } from '../../contract/export-query.ts';
import { projectParams } from '../../contract/lists.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { untilGone } from '../until-gone.ts';
import { addressOf } from './changes.ts';

const TYPES = [...new Set(Object.values(MEDIA_TYPES).map((type) => type.split(';', 1)[0]))];

const row = z.looseObject({});
/** Rows; a report is one object. */
const jsonFile = z.union([z.array(row), row]);
const schemaOf = (type: string) => (type === 'application/json' ? jsonFile : z.string());

export function registerExportRoute(app: ApiServer, deps: ApiDeps): void {
  app.get(
    '/projects/:id/export',
    {
      // A HEAD would make the whole file for nothing.
      exposeHeadRoute: false,
      schema: {
        ...{
          tags: ['Export'],
          operationId: 'exportProject',
          summary: 'Pages, links, changes, graph or report as a file',
        },
        params: projectParams,
        querystring: exportQuery,
        response: {
          200: {
            description: 'A file.',
            content: Object.fromEntries(TYPES.map((type) => [type, { schema: schemaOf(type) }])),
          },
        },
      },
    },
    async (request, reply) => {
      const {
        what,
        format,
        fields,
        to_state,
        to_status,
        broken,
        since,
        outcome,
        part,
        of,
        table,
        run,
        ...pages
      } = request.query;
      const asked = untilGone(deps, reply);
      const project = await findProject(asked, request.params.id);
      const question = {
        ...{ what, format, pages, fields, graphOf: of, table, run },
        links: readLinksQuestion({ to_state, to_status, broken }),
        changes: { since, outcomes: outcome, parts: part },
        selfUrl: addressOf(request, null),
        now: deps.clock.now(),
        gone: asked.gone,
      };
      const file = exportProject(asked, project, question);
      const body = await streamOf(file.pieces);
      return reply
        .type(file.mediaType)
        .header('content-disposition', `attachment; filename="${file.fileName}"`)
        .header('content-security-policy', "sandbox; default-src 'none'; frame-ancestors 'none'")
        .send(body as never);
    },
  );
}

const BYTES_AT_ONCE = 64 * 1024;

/** What fails before the first piece is there is a problem like any other. */
async function streamOf(pieces: AsyncIterable<string | Uint8Array>): Promise<Readable> {
  const source = pieces[Symbol.asyncIterator]();
  const first = await source.next();
  async function* all() {
    try {
      for (let piece = first; !piece.done; piece = await source.next()) yield piece.value;
    } finally {
      await source.return?.();
    }
  }
  return Readable.from(all(), { objectMode: false, highWaterMark: BYTES_AT_ONCE });
}

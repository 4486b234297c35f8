/** The projects that the caller may see. */
import { z } from 'zod';
import { listProjects } from '../../answers/list-projects.ts';
import { agentTool, READS } from '../agent.ts';
import { fitList } from '../fit-answer.ts';
import { cursorInput, limitInput, nextCursor } from '../page-facts.ts';

export const listProjectsTool = agentTool({
  name: 'list_projects',
  title: 'List projects',
  about: 'Lists projects (each one a crawled site) with how their crawls stand.',
  scope: 'read',
  input: z.strictObject({
    q: z.string().min(1).max(200).optional().describe('A part of the name or of the URL.'),
    limit: limitInput,
    cursor: cursorInput,
  }),
  output: z.strictObject({
    projects: z.array(
      z.strictObject({
        project_id: z.string(),
        name: z.string(),
        website_url: z.string().nullable(),
        state: z
          .string()
          .describe('pending, queued, running, paused, completed, stopped, interrupted or failed.'),
        progress: z.number(),
        pages_crawled: z.number().describe('By the last run.'),
        run: z.number().nullable(),
        created_at: z.string(),
        updated_at: z.string(),
      }),
    ),
    next_cursor: nextCursor,
  }),
  hints: READS,
  async run({ q, limit, cursor }, { parts, caller }) {
    const { items, next_cursor } = await fitList({
      limit,
      async read(most) {
        const found = await listProjects(parts, { q, limit: most, cursor }, caller.projects);
        const phases = await parts.engine.runs.phases(found.items.map(({ uid }) => uid));
        return { ...found, items: found.items.map((row, place) => ({ row, phase: phases[place] })) };
      },
      toRow: ({ row, phase }) => ({
        project_id: row.uid,
        name: row.project,
        website_url: row.website_url,
        state: phase.state,
        progress: phase.progress,
        pages_crawled: phase.pages_crawled,
        run: phase.run,
        created_at: row.created_at,
        updated_at: row.updated_at,
      }),
    });
    return { projects: items, next_cursor };
  },
});

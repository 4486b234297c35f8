/** What became of a URL, and which rule decided. */
import { z } from 'zod';
import { explainUrlOf } from '../../answers/explain-why.ts';
import { agentTool, projectOf, READS } from '../agent.ts';
import { fitRow } from '../fit-answer.ts';
import { projectId, UNTRUSTED_NOTE } from '../page-facts.ts';

const MOST_REQUESTS = 5;
const MOST_STEPS = 30;

export const whyTool = agentTool({
  name: 'why',
  title: 'Why a URL is as it is',
  about: `Explains what became of a URL: its state and the rule that decided, the way from the start page, robots.txt, redirects, requests and the next visit. Makes no request. ${UNTRUSTED_NOTE}`,
  scope: 'read',
  input: z.strictObject({
    project_id: projectId,
    url: z.string().min(1).max(4000).describe('In any spelling.'),
  }),
  output: z.strictObject({
    page_id: z.string(),
    url: z.string(),
    state: z.string(),
    reason: z.string().nullable().describe('The rule or the answer that decided.'),
    status_code: z.number().nullable(),
    depth: z.number().nullable(),
    discovered_at: z.string(),
    discovered_run: z.number(),
    visited_at: z.string().nullable(),
    attempts: z.number(),
    retry_at: z.string().nullable(),
    path: z.array(z.string()).describe('From the start page to the page that led here first.'),
    redirects: z.array(z.string()),
    final_url: z.string().nullable(),
    robots: z.strictObject({
      decision: z.string().describe('allowed, denied or unknown.'),
      rule: z.string().nullable(),
      status: z.number().nullable(),
    }),
    left_out: z
      .strictObject({ run: z.number(), reason: z.string(), known_from_run: z.number().nullable() })
      .nullable(),
    requests: z
      .array(
        z.strictObject({
          run: z.number(),
          kind: z.string(),
          sent_at: z.string(),
          status_code: z.number(),
          failure: z.string().nullable(),
        }),
      )
      .describe('The last 5.'),
    requests_total: z.number(),
    next_visit_at: z.string().nullable(),
    untrusted: z.strictObject({ title: z.string().nullable() }).describe(UNTRUSTED_NOTE),
  }),
  hints: READS,
  async run({ project_id, url }, call) {
    const project = await projectOf(call, project_id);
    const why = await explainUrlOf(call.parts, project, url, call.parts.clock.now());
    return fitRow({
      page_id: why.page_id,
      url: why.url,
      state: why.state,
      reason: why.reason,
      status_code: why.status_code,
      depth: why.depth,
      discovered_at: why.discovered_at,
      discovered_run: why.discovered_run,
      visited_at: why.visited_at,
      attempts: why.attempts,
      retry_at: why.retry_at,
      path: why.path.slice(0, MOST_STEPS),
      redirects: why.redirects.slice(0, MOST_STEPS),
      final_url: why.final_url,
      robots: why.robots,
      left_out: why.left_out,
      requests: why.requests.slice(-MOST_REQUESTS).map(({ run, kind, sent_at, status_code, failure }) => ({
        run,
        kind,
        sent_at,
        status_code,
        failure,
      })),
      requests_total: why.requests_total,
      next_visit_at: why.next_visit?.at ?? null,
      untrusted: { title: why.title },
    });
  },
});

/** Starting a crawl, seeing how it stands, stopping it. A start answers at once; the crawl goes on behind it. */
import { z } from 'zod';
import { findProjectToCrawl } from '../../answers/find-project-to-crawl.ts';
import { readSettingsOf } from '../../answers/read-settings.ts';
import { readWebsiteUrl } from '../../answers/read-website-url.ts';
import { WIRE_SETTINGS } from '../../config/wire-settings.ts';
import { phase as phaseSchema, runMode } from '../../contract/phases.ts';
import { newProject } from '../../contract/projects.ts';
import { settingsPatch } from '../../contract/settings.ts';
import { SumiError, sumiError } from '../../errors.ts';
import type { Phase, RunOrder } from '../../running/phase.ts';
import { type AgentCall, agentTool, projectOf, READS } from '../agent.ts';
import { fitRow } from '../fit-answer.ts';
import { projectId } from '../page-facts.ts';

const SETTING_PROPERTIES = (settingsPatch.meta()?.properties ?? {}) as Readonly<
  Record<string, { anyOf: [Record<string, unknown>, unknown] }>
>;

/** Every setting as an input of its own: the option table checks the values, and names every problem. */
const SETTINGS = Object.fromEntries(
  WIRE_SETTINGS.filter((name) => name !== 'fetch_only_urls').map((name) => {
    const { anyOf } = SETTING_PROPERTIES[name] ?? { anyOf: [{}, null] };
    return [name, z.unknown().optional().meta(anyOf[0])];
  }),
);

const webUrl = z.string().min(1).max(2000);

const phaseShown = phaseSchema.omit({ project_id: true });

const input = z.strictObject({
  url: webUrl.describe('Where the crawl begins, as https://example.com/.'),
  name: newProject.shape.name.optional().describe('Of the project; unless given, its host.'),
  mode: runMode
    .optional()
    .describe('full: every page. incremental: only what may have changed. smart: decides itself.'),
  fetch_only_urls: z
    .array(webUrl)
    .min(1)
    .max(1000)
    .optional()
    .describe('These URLs and no others; no links are followed.'),
  fresh: z.boolean().optional().describe('true: delete what is known of the pages of the project first.'),
  ...SETTINGS,
});

const OWN_INPUTS: ReadonlySet<string> = new Set(['url', 'name', 'mode', 'fetch_only_urls', 'fresh']);

const started = z.strictObject({
  project_id: z.string().describe('For all other tools.'),
  project_name: z.string(),
  started: z.boolean().describe('false: this project was being crawled already; nothing was changed.'),
  phase: phaseShown,
});

export const startCrawlTool = agentTool({
  name: 'start_crawl',
  title: 'Start a crawl',
  about:
    'Starts to crawl a website and answers at once with its project_id; crawl_status tells how it goes on. The same url is the same project: a later crawl compares with what is known. Settings by name stay with the project. It requests pages of the website, politely, and obeys robots.txt.',
  scope: 'write',
  input,
  output: started,
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async run(given, call) {
    const { parts, caller } = call;
    const all = given as Record<string, unknown> & z.infer<typeof input>;
    const named = Object.entries(all).filter(([name, value]) => !OWN_INPUTS.has(name) && value !== undefined);
    const settings = readSettingsOf(Object.fromEntries(named), parts.limits, '');
    const order = orderOf(all);
    const websiteUrl = await readUrl(all.url, parts);
    const project = await findProjectToCrawl(parts, {
      websiteUrl,
      name: all.name,
      settings,
      projects: caller.projects,
    });
    const answer = (phase: Phase, isStarted: boolean) => {
      const { project_id, ...rest } = phase;
      return fitRow({ project_id, project_name: project.name, started: isStarted, phase: rest });
    };
    const isPlain = named.length === 0 && Object.keys(order).length === 1;
    const before = await parts.engine.runs.phase(project.id);
    if (before.status === 'in_progress') {
      if (isPlain) return answer(before, false);
      throw sumiError('run-under-way', { project: project.name, run: before.run ?? 0 });
    }
    if (!project.isNew && named.length > 0) await parts.engine.projects.change(project.id, { settings });
    return answer(await parts.engine.runs.start(project.id, order), true);
  },
});

/** The field of the tool is called url. */
async function readUrl(text: string, { egress }: AgentCall['parts']): Promise<string> {
  try {
    return await readWebsiteUrl(text, egress);
  } catch (error) {
    if (!(error instanceof SumiError)) throw error;
    const errors = error.errors.map(({ detail }) => ({ pointer: '/url', detail }));
    throw new SumiError(error.code, { ...error.details, errors });
  }
}

function orderOf({ mode, fetch_only_urls: urls, fresh }: z.infer<typeof input>): RunOrder {
  for (const [place, url] of (urls ?? []).entries())
    if (!isWebUrl(url))
      throw sumiError('request-invalid', {
        reason: `fetch_only_urls/${place}: expected a URL with http or https`,
        errors: [{ pointer: `/fetch_only_urls/${place}`, detail: 'Expected a URL with http or https.' }],
      });
  return {
    type: 'manual',
    ...(mode !== undefined && { mode }),
    ...(urls !== undefined && { fetchOnlyUrls: urls }),
    ...(fresh === true && { fresh }),
  };
}

function isWebUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

const standing = z.strictObject({ project_id: z.string(), phase: phaseShown });

function standingOf({ project_id, ...phase }: Phase): z.infer<typeof standing> {
  return fitRow({ project_id, phase });
}

export const crawlStatusTool = agentTool({
  name: 'crawl_status',
  title: 'How a crawl stands',
  about:
    'Tells how the crawl of a project stands: state, progress in percent, pages, what it waits for, and the figures of the run at its end.',
  scope: 'read',
  input: z.strictObject({ project_id: projectId }),
  output: standing,
  hints: READS,
  async run({ project_id }, call) {
    const { uid } = await projectOf(call, project_id);
    return standingOf(await call.parts.engine.runs.phase(uid));
  },
});

export const stopCrawlTool = agentTool({
  name: 'stop_crawl',
  title: 'Stop a crawl',
  about: 'Ends the crawl of a project for good; its pages stay. Pages that waited are skipped.',
  scope: 'write',
  input: z.strictObject({ project_id: projectId }),
  output: standing,
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  async run({ project_id }, call) {
    const { uid } = await projectOf(call, project_id);
    return standingOf(await call.parts.engine.runs.stop(uid));
  },
});

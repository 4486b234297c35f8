// A program and `sumi serve`: it makes a project, starts a crawl, follows it by Server-Sent Events and reads what changed.
// It needs nothing but fetch, so it can be written in any language.
// Run it: sumi serve, then npx tsx examples/15-follow-a-crawl.ts http://127.0.0.1:7864 https://example.com/
const [service = 'http://127.0.0.1:7864', site = 'https://example.com/'] = process.argv.slice(2);
// Of `sumi token create --name example --scope write`; without tokens a service answers everybody on its machine.
const token = process.env.SUMI_TOKEN;

async function ask<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${service}/api/v1${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  if (response.ok) return answer as Answer;
  // Every mistake has a code to decide by, and a hint for people.
  const { code, detail, hint } = answer as Record<string, string>;
  throw new Error(`${code}: ${detail} ${hint}`);
}

interface Project {
  id: string;
  website_url: string | null;
}
interface Phase {
  status: string;
  message: string;
  progress: number;
}
type LiveEvent =
  | { type: 'subscribed' | 'progress' | 'completed' | 'failed'; phase: Phase }
  | { type: 'page'; page: { status_code: number | null; url: string } };

/** The events of a project, as they come. */
async function* events(project: string): AsyncGenerator<LiveEvent> {
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const { body } = await fetch(`${service}/api/v1/projects/${project}/events`, { headers });
  let text = '';
  for await (const piece of body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + piece).split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield JSON.parse(data) as LiveEvent;
    }
  }
}

// The second time the project is there, and the crawl finds what changed.
const { host } = new URL(site);
const { items } = await ask<{ items: Project[] }>('GET', `/projects?q=${encodeURIComponent(host)}`);
const settings = { max_pages: 8 };
const project =
  items.find(({ website_url }) => website_url === site) ??
  (await ask<Project>('POST', '/projects', { name: host, website_url: site, settings }));

for await (const event of events(project.id)) {
  // Heard first of all: from here on nothing is missed.
  if (event.type === 'subscribed') await ask('POST', `/projects/${project.id}/phases/crawl/run`);
  if (event.type === 'page') console.log(event.page.status_code, event.page.url);
  if (event.type === 'completed' || event.type === 'failed') {
    console.log(`${event.phase.progress} %: ${event.phase.message}`);
    break;
  }
}

const changes = await ask<{ items: { outcome: string; title: string | null }[] }>(
  'GET',
  `/projects/${project.id}/changes?limit=3`,
);
for (const { outcome, title } of changes.items) console.log(`${outcome}: ${title}`);

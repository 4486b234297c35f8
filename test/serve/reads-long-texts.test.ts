// Texts that are too long for one answer: it brings fewer pages, and its cursors lead on and back all the same.
import { expect, it } from 'vitest';
import { useBench } from '../crawls/crawl-site.ts';
import { type Loose, useService } from './start-serving.ts';

const start = useService();
const bench = useBench();

it('a list brings no more texts at once than memory should hold', async () => {
  const count = 12;
  const text = `${'w'.repeat(999)} `.repeat(1000);
  const paths = Array.from({ length: count }, (_, n) => `/p${n}`);
  const web = await bench.web({
    pages: {
      '/': paths.map((path) => `<a href="${path}">${path}</a>`).join(''),
      ...Object.fromEntries(paths.map((path) => [path, `<title>${path}</title><p>${path} ${text}</p>`])),
    },
  });
  const service = await start();
  const id = await service.project('long', web.origin);
  await service.crawl(id);
  const read = async (more: string) =>
    (await service.get(`projects/${id}/pages?limit=1000&fields=id,content_text${more}`)).body;
  const pages: Loose[] = [];
  const firsts: Loose[] = [];
  let answers = 0;
  let previous: string | null = null;
  for (let cursor: string | null = ''; cursor !== null; answers++) {
    const answer: Loose = await read(cursor === '' ? '' : `&cursor=${cursor}`);
    expect(JSON.stringify(answer).length).toBeLessThan(10_000_000);
    expect(answer.items.length).toBeGreaterThan(0);
    pages.push(...answer.items);
    firsts.push(answer.items[0].id);
    cursor = answer.next_cursor;
    previous = answer.prev_cursor;
  }
  expect(answers).toBeGreaterThan(1);
  expect(new Set(pages.map((page) => page.id)).size).toBe(count + 1);
  expect(pages).toHaveLength(count + 1);
  const back = await read(`&cursor=${previous}`);
  const ids = pages.map((page) => page.id);
  // The pages just before the last answer, in their order.
  const end = ids.indexOf(firsts.at(-1));
  expect(back.items.map((page: Loose) => page.id)).toEqual(ids.slice(end - back.items.length, end));
  const exported = await service.get(`projects/${id}/export?what=pages&format=json&fields=id,content_text`);
  expect(exported.body).toEqual(pages);
});

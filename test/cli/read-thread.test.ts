import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { makeFolder, sumi } from './run-sumi.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

it('the built library reads on a thread, whose file stands beside it, and ends by itself when it was not closed', async () => {
  expect(await sumi(['demo', '-q'], { cwd: folder.path })).toMatchObject({ code: 0 });
  const program = `
    import { openResults } from ${JSON.stringify(pathToFileURL(resolve('dist/index.js')).href)};
    const results = await openResults('sumi-demo.db', { thread: true });
    const { rows, next } = await results.list('pages', { limit: 2 });
    let streamed = 0;
    for await (const page of results.pages({ limit: 3 })) streamed++;
    const refused = await results.list('pages', { cursor: next, order: 'desc' }).catch(({ name, code }) => [name, code]);
    console.log(JSON.stringify([rows.length, streamed, refused]));`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  expect(JSON.parse(stdout)).toEqual([2, 3, ['SumiError', 'cursor-of-other-list']]);
});

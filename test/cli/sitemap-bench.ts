// A fake web and the built command beside it, for `sumi sitemap`: what is opened is closed after each test.
import { afterEach } from 'vitest';
import { type FakeWeb, type FakeWebOptions, startFakeWeb } from '../web/fake-web.ts';
import { makeFolder, startSumi, sumi } from './run-sumi.ts';

export interface SitemapBench {
  web: FakeWeb;
  /** Where the commands run. */
  folder: string;
  run: (...args: string[]) => ReturnType<typeof sumi>;
  /** Any command, in the same folder. */
  also: (...args: string[]) => ReturnType<typeof sumi>;
  begin: (...args: string[]) => ReturnType<typeof startSumi>;
}

/** Call once a test file. */
export function useSitemapBench(): (options: FakeWebOptions) => Promise<SitemapBench> {
  const cleanUps: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
  });
  return async (options) => {
    const web = await startFakeWeb(options);
    const folder = makeFolder();
    cleanUps.push(folder.remove, () => web.close());
    return {
      web,
      folder: folder.path,
      run: (address, ...args) => sumi(['sitemap', address, '--delay', '0', ...args], { cwd: folder.path }),
      also: (...args) => sumi(args, { cwd: folder.path }),
      begin: (...args) => startSumi(args, { cwd: folder.path }),
    };
  };
}

export type Row = Record<string, unknown>;
export const rowsIn = (stdout: string) => JSON.parse(stdout) as Row[];

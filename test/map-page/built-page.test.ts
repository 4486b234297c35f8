import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { renderMapPage } from '../../src/pages/map/render-map-page.ts';
import { randomTerrain } from './random-terrain.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the built map page', () => {
  it('is the one of the sources, and needs neither them nor a bundler', async () => {
    const scripts = pathToFileURL(join(ROOT, 'scripts/bundle-page.mjs')).href;
    const { pagesPlugin } = (await import(scripts)) as { pagesPlugin: Plugin };
    const folder = mkdtempSync(join(tmpdir(), 'sumi-built-map-'));
    try {
      await build({
        entryPoints: [join(ROOT, 'src/pages/map/render-map-page.ts')],
        outfile: join(folder, 'page.mjs'),
        bundle: true,
        format: 'esm',
        platform: 'node',
        plugins: [pagesPlugin],
      });
      const map = randomTerrain({
        seed: 1,
        quality: 2,
        stub: 1,
        blacklist: 1,
        discovered: 9,
        links: 30,
        maxDepth: 2,
      });
      writeFileSync(join(folder, 'map.json'), JSON.stringify(map));
      writeFileSync(
        join(folder, 'run.mjs'),
        `import { readFileSync } from 'node:fs';
         import { renderMapPage } from './page.mjs';
         process.stdout.write(await renderMapPage(JSON.parse(readFileSync('map.json', 'utf8'))));`,
      );
      const built = execFileSync(process.execPath, ['run.mjs'], { cwd: folder, encoding: 'utf8' });
      expect(built).toBe(await renderMapPage(map));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

// Makes the parts of the map page from their sources: the page's script as one piece of plain JavaScript, its style
// without what browsers do not need, its markup. Used by the build, and from the sources by src/map-page/page-parts.ts.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('../src/map-page/page/', import.meta.url));

export async function bundleMapPage() {
  const { outputFiles } = await build({
    entryPoints: [`${folder}map.ts`, `${folder}map.css`],
    outdir: 'unwritten',
    write: false,
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    charset: 'ascii',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
  const text = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text.trim();
  const script = text('.js');
  // The script stands inside a script element, which this would end.
  if (/<\/script|<!--/i.test(script))
    throw new Error('the map page’s script contains markup that would end it');
  return { html: readFileSync(`${folder}map.html`, 'utf8'), style: text('.css'), script };
}

/** For esbuild: the finished parts in the place of the file that bundles them. */
export const mapPagePlugin = {
  name: 'map-page',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]map-page[\\/]page-parts\.ts$/ }, async () => ({
      contents: `const parts = ${JSON.stringify(await bundleMapPage())};\nexport const pageParts = async () => parts;`,
      loader: 'js',
    }));
  },
};

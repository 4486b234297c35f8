// Makes the parts of a page that opens from disk (src/pages) from their sources: its script as one
// piece of plain JavaScript, its style without what browsers do not need, its markup. Used by the build, and from the
// sources by each page's page-parts.ts.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** `name`: map, report or changes. */
export async function bundlePage(name) {
  const folder = fileURLToPath(new URL(`../src/pages/${name}/page/`, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [`${folder}${name}.ts`, `${folder}${name}.css`],
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
    throw new Error(`the ${name} page’s script contains markup that would end it`);
  return { html: readFileSync(`${folder}${name}.html`, 'utf8'), style: text('.css'), script };
}

/** For esbuild: the finished parts in the place of the files that bundle them. */
export const pagesPlugin = {
  name: 'pages',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]pages[\\/](map|report|changes)[\\/]page-parts\.ts$/ }, async ({ path }) => {
      const [, name] = /(\w+)[\\/]page-parts\.ts$/.exec(path);
      return {
        contents: `const parts = ${JSON.stringify(await bundlePage(name))};\nexport const pageParts = async () => parts;`,
        loader: 'js',
      };
    });
  },
};

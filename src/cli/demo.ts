/** `sumi demo`: a first look without the internet. Serves a small made-up site on loopback, crawls it, says what to try. */
import { Command } from 'commander';
import { loadConfig } from '../config/load-config.ts';
import { serveDemoSite } from '../demo/demo-site.ts';
import { shellWord } from '../render/render-summary.ts';
import { pad, painterFor } from '../render/terminal-text.ts';
import { crawlToEnd } from './crawl-to-end.ts';
import { addOptionFlags, flagsGiven } from './options-to-flags.ts';
import { typedProgram } from './typed-program.ts';

const DEFAULT_DB = './sumi-demo.db';

export function demoCommand(): Command {
  const command = new Command('demo').description('crawl a small made-up site on this machine');
  addOptionFlags(command, ['db', 'json', 'quiet', 'verbose']);
  return command.action(async () => {
    const { db, json, quiet, verbose } = await loadConfig({
      env: {},
      flags: { db: DEFAULT_DB, ...flagsGiven(command) },
    });
    const config = await loadConfig({
      env: {},
      options: {
        ...{ db, json, quiet, verbose },
        project: 'demo',
        fresh: true,
        // Slow enough to be seen, quick enough not to be waited for.
        delay: 0.05,
        allowedHosts: ['127.0.0.1', '127.0.0.2', '127.0.0.3'],
        proxy: 'none',
      },
    });
    const site = await serveDemoSite();
    try {
      const summary = await crawlToEnd(config, [site.url('/')]);
      if (summary.status === 'completed' && !json && !quiet)
        process.stdout.write(whatToTry(db, site.origins[0]));
    } finally {
      await site.close();
    }
  });
}

function whatToTry(db: string, origin: string): string {
  const sumi = typedProgram(process.env);
  const at = `--db ${shellWord(db)}`;
  const tries: [string, string][] = [
    [`${sumi} why ${origin}/private/diary ${at}`, 'a page that robots.txt keeps us from'],
    [`${sumi} why ${origin}/old-home ${at}`, 'a redirect'],
    [`${sumi} links ${origin}/site-map ${at}`, 'the links of a page'],
    [`${sumi} hosts ${at}`, 'the three hosts'],
    [`${sumi} audit ${at}`, 'was it polite?'],
    [`sqlite3 ${shellWord(db)} 'select state, count(*) from pages group by 1'`, 'or with plain SQL'],
    [`${sumi} crawl https://example.com`, 'then a site of your own'],
  ];
  const width = Math.max(...tries.map(([command]) => command.length));
  const paint = painterFor(process.stdout, process.env);
  const lines = tries.map(([command, about]) => `  ${pad(command, width)}   ${paint('dim', about)}`);
  return `\nTry also:\n${lines.join('\n')}\n`;
}

/** `sumi index`: builds what lists and searches of programs need, once, or brings it up to date. */
import { Command } from 'commander';
import { sumiError } from '../errors.ts';
import { buildIndexes, INDEX_KINDS, type ProjectIndex } from '../project/build-indexes.ts';
import { printable, showMany } from '../render/terminal-text.ts';
import type { IndexKind } from '../store/index-state.ts';
import { addReadFlags, wantsJson, withReadSide } from './read-command.ts';

const EXAMPLES = `
Examples:
  sumi index                              every index of every project
  sumi index reverse-links --project shop who links to a page, of one project
Indexes:
  reverse-links   who links to a page, without reading every link
  full-text       which pages have a word in title or main text
  sections        how many pages have a status, a depth, a host …, or stand
                  in a folder
  sorts           lists of pages by time of the visit, status, depth, size,
                  words, response time, changes; crawls keep them up to date
With --reverse-links, --full-text and --sections a crawl builds the first three
at its end.`;

export function indexCommand(): Command {
  const command = new Command('index')
    .description('build indexes for lists and searches of programs')
    .argument('[kinds...]', `what to build: ${INDEX_KINDS.join(', ')} (default: all)`);
  return addReadFlags(command, false)
    .addHelpText('after', EXAMPLES)
    .action(async (asked: string[]) => {
      const kinds = readKinds(asked);
      // Asked of the reading side first, so that a store that is not there is not made, and closed before it is changed.
      let build = async () => {};
      await withReadSide(command, async ({ config, side, project }) => {
        const isJson = wantsJson(config);
        const all = (await side.projects()).map((row) => row.project);
        const projects = project === undefined ? all : [project];
        build = async () => {
          const built = await buildIndexes(config, projects, kinds);
          const text = isJson ? JSON.stringify(built) : built.map(textOf).join('\n');
          process.stdout.write(`${text}\n`);
        };
      });
      await build();
    });
}

function readKinds(asked: readonly string[]): readonly IndexKind[] {
  const unknown = asked.find((kind) => !INDEX_KINDS.includes(kind as IndexKind));
  if (unknown !== undefined)
    throw sumiError('usage', {
      reason: `there is no index ${unknown}; expected ${INDEX_KINDS.join(', ')}`,
      command: 'sumi index',
    });
  return asked.length === 0 ? INDEX_KINDS : INDEX_KINDS.filter((kind) => asked.includes(kind));
}

function textOf({ project, kind, pages, isWhole }: ProjectIndex): string {
  const name = printable(project);
  if (kind === 'sorts') return `${kind}: ready, for all projects`;
  if (pages === 0) return `${kind} of ${name}: nothing to do`;
  return `${kind} of ${name}: ${isWhole ? 'built' : 'brought up to date'}, ${showMany(pages, 'page')}`;
}

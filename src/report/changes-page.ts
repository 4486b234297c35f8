/**
 * Changes as one page that opens from disk, light or dark as the reader likes, without any script: its policy forbids
 * every request. Everything from the web is escaped; addresses become links only where they are web addresses.
 */
import { createHash } from 'node:crypto';
import { escapeText } from '../primitives/self-contained-page.ts';
import { type ChangesList, explainOutcome, showStep, type ToldChange } from './told-change.ts';

const STYLE = `
:root { color-scheme: light dark; --ground: #fff; --ink: #1c2126; --soft: #66707a; --line: #d9dee3; --box: #f5f7f9;
  --add: #0b6b2e; --add-ground: #d9f5e1; --cut: #9b1c1c; --cut-ground: #fde2e0; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181c; --ink: #e4e8ec; --soft: #98a3ad; --line: #333b43;
  --box: #1c2228; --add: #7ee2a0; --add-ground: #12351f; --cut: #ffb0aa; --cut-ground: #45201e; --link: #7cb8f5; } }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1rem; margin: 0; font-weight: 600; }
.note, .said { color: var(--soft); margin: .25rem 0; }
.counts { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; list-style: none; padding: 0; margin: 1rem 0 0; }
.counts b { font-size: 1.3rem; }
article { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; margin: .75rem 0; }
a { color: var(--link); } ul.links { list-style: none; padding: 0; margin: .5rem 0; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-top: 1px solid var(--line); }
th { font-weight: 600; white-space: nowrap; }
@media (max-width: 36rem) { tr { display: block; border-top: 1px solid var(--line); padding: .25rem 0; }
  th, td { display: block; border: 0; padding: .1rem 0; } }
.diff { background: var(--box); border-radius: .4rem; padding: .6rem .8rem; margin: .5rem 0; }
ins { color: var(--add); background: var(--add-ground); text-decoration: none; border-radius: .2rem; padding: 0 .15rem; }
ins, del { unicode-bidi: isolate; }
del { color: var(--cut); background: var(--cut-ground); border-radius: .2rem; padding: 0 .15rem; }
.outcome { border: 1px solid currentColor; border-radius: 1rem; padding: 0 .5rem; font-size: .8rem; margin-right: .4rem; }
.new, .added { color: var(--add); } .gone, .removed, .failed { color: var(--cut); } .unchanged, .unvisited { color: var(--soft); }
`;

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`;

export async function* renderChangesPage(list: ChangesList): AsyncGenerator<string> {
  const { title, note, counts } = list.heading;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escapeText(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeText(title)}</h1>
<p class="note">${escapeText(note)}</p>
`;
  if (counts.length > 0) {
    const items = counts.map(([name, count]) => `<li class="${name}"><b>${count}</b> ${name}</li>`);
    yield `<ul class="counts">${items.join('')}</ul>\n`;
  }
  let isEmpty = true;
  for (const section of list.sections) {
    let isFirst = true;
    for await (const row of section.rows) {
      if (isFirst && section.title !== null) yield `<h2>${escapeText(section.title)}</h2>\n`;
      isFirst = isEmpty = false;
      yield pageAsArticle(row, list.showsRun);
    }
  }
  if (isEmpty) yield `<p>${escapeText(list.emptyText)}</p>\n`;
  yield '</body>\n</html>\n';
}

function pageAsArticle(row: ToldChange, showsRun: boolean): string {
  const run = showsRun ? `run ${row.run}, ${row.visited_at.slice(0, 19)}Z` : '';
  const said = [run, explainOutcome(row)].filter((text) => text !== '').join(' · ');
  const parts = [
    `<h3><span class="outcome ${row.outcome}">${row.outcome}</span> ${linkTo(row.url)}</h3>`,
    said === '' ? '' : `<p class="said">${escapeText(said)}</p>`,
    fieldsAsTable(row.fields),
    linksAsList(row),
    row.text === null ? '' : diffAsText(row.text),
    ...(row.text_steps ?? []).flatMap((step) => [
      `<p class="said">${showStep(step)}</p>`,
      step.text === null ? '' : diffAsText(step.text),
    ]),
  ];
  return `<article>${parts.filter((part) => part !== '').join('\n')}</article>\n`;
}

function fieldsAsTable(fields: ToldChange['fields']): string {
  if (fields.length === 0) return '';
  const rows = fields.map(
    ({ name, before, after }) =>
      `<tr><th scope="row">${name}</th><td dir="auto">${value('del', before)}</td><td dir="auto">${value('ins', after)}</td></tr>`,
  );
  return `<table>${rows.join('\n')}</table>`;
}

function value(element: 'del' | 'ins', text: string | null): string {
  return text === null ? '<span class="note">none</span>' : `<${element}>${escapeText(text)}</${element}>`;
}

function linksAsList({ links_added, links_removed }: ToldChange): string {
  if (links_added.length + links_removed.length === 0) return '';
  const items = [
    ...links_added.map((url) => `<li><ins>+</ins> ${linkTo(url)}</li>`),
    ...links_removed.map((url) => `<li><del>−</del> ${linkTo(url)}</li>`),
  ];
  return `<ul class="links">${items.join('\n')}</ul>`;
}

function diffAsText(pieces: NonNullable<ToldChange['text']>): string {
  const words = pieces.map(([kind, text]) => {
    if (kind === '=') return escapeText(text);
    const element = kind === '-' ? 'del' : 'ins';
    return `<${element}>${escapeText(text)}</${element}>`;
  });
  // Words may run from right to left, and marks for that must not reach from one run into the next.
  return `<p class="diff" dir="auto">${words.join(' ')}</p>`;
}

function linkTo(url: string): string {
  const text = escapeText(url);
  return /^https?:\/\//i.test(url) ? `<a href="${text}" rel="noreferrer noopener">${text}</a>` : text;
}

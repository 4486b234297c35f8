/**
 * Changes as one page that opens from disk, light or dark as the reader prefers. Its policy forbids every request, and
 * every script except its own, which only converts times. It is written while it is read: one web page is in memory at
 * a time. Everything from the web is escaped; only web addresses become links.
 */

import type { ToldChange } from '../../change/told-change.ts';
import { type ChangesList, explainOutcome, showStep } from '../../render/told-words.ts';
import { escapeText, fillPage } from '../self-contained-page.ts';
import { pageParts } from './page-parts.ts';

/** The place in the filled page for the content that is read later. */
const CONTENT = '<!-- changes -->';

export async function* renderChangesPage(list: ChangesList): AsyncGenerator<string> {
  const { title, note, counts } = list.heading;
  const markup = { heading: withTimes(title), about: withTimes(note), content: CONTENT };
  const page = fillPage(await pageParts(), { title, data: null, markup });
  const middle = page.indexOf(CONTENT);
  yield page.slice(0, middle);
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
  if (isEmpty) yield `<p class="empty">${escapeText(list.emptyText)}</p>\n`;
  yield page.slice(middle + CONTENT.length);
}

/** Moments of UTC in a text, as 2026-02-03T10:00Z. */
const MOMENTS = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g;

function withTimes(text: string): string {
  return escapeText(text).replace(MOMENTS, timeElement);
}

/** The script shows it in the reader's time zone. */
function timeElement(moment: string): string {
  return `<time datetime="${moment}">${moment.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

function pageAsArticle(row: ToldChange, showsRun: boolean): string {
  const title = row.title?.trim() ?? '';
  const name = title === '' ? linkTo(row.url) : `<bdi>${escapeText(title)}</bdi>`;
  // The title of a new page already stands above.
  const what = explainOutcome(row);
  const said = [showsRun ? `run ${row.run}` : '', what === row.title ? '' : what].filter(
    (text) => text !== '',
  );
  const parts = [
    `<h3><span class="outcome ${row.outcome}">${row.outcome}</span> ${name}</h3>`,
    title === '' ? '' : `<p class="address">${linkTo(row.url)}</p>`,
    `<p class="said">${[timeElement(row.visited_at), ...said.map(escapeText)].join(' · ')}</p>`,
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
  // Words may run from right to left, and direction marks must not reach from one part into the next.
  return `<p class="diff" dir="auto">${words.join(' ')}</p>`;
}

function linkTo(url: string): string {
  const text = escapeText(url);
  return /^https?:\/\//i.test(url) ? `<a href="${text}" rel="noreferrer noopener">${text}</a>` : text;
}

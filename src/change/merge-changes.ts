/**
 * Several changes of a page, one after the other, as one: what was changed and changed back is left out. Word diffs
 * cannot be added up without the texts, which are long gone: they follow each other.
 */
import { inOrder } from './compare-pages.ts';
import type { DiffPiece, PageChange } from './visit-record.ts';

type Field = PageChange['fields'][number];

/** Null when nothing is left of them. */
export function mergeChanges(changes: readonly PageChange[]): PageChange | null {
  if (changes.length === 1) return changes[0];
  const fields = mergeFields(changes);
  const [linksAdded, linksRemoved] = mergeLinks(changes);
  const texts = changes.flatMap(({ text }) => (text === null ? [] : [text]));
  const told = new Set(changes.flatMap(({ parts }) => parts));
  const left = [...told].filter((part) => {
    if (part === 'links') return linksAdded.length > 0 || linksRemoved.length > 0;
    return part === 'text' || part === 'template' || fields.some(({ name }) => name === part);
  });
  if (left.length === 0) return null;
  return {
    parts: inOrder(left),
    fields,
    linksAdded,
    linksRemoved,
    text: texts.length === 0 ? null : texts.reduce<DiffPiece[]>(followedBy, []),
    wordsAdded: changes.reduce((sum, { wordsAdded }) => sum + wordsAdded, 0),
    wordsRemoved: changes.reduce((sum, { wordsRemoved }) => sum + wordsRemoved, 0),
  };
}

/** The first value before, the last one after. Structured data has many values under one name: they are all told. */
function mergeFields(changes: readonly PageChange[]): Field[] {
  const single = new Map<string, Field>();
  const data: Field[] = [];
  for (const field of changes.flatMap(({ fields }) => fields)) {
    if (field.name === 'structured-data') data.push(field);
    else single.set(field.name, { ...field, before: (single.get(field.name) ?? field).before });
  }
  return [...[...single.values()].filter(({ before, after }) => before !== after), ...data];
}

function mergeLinks(changes: readonly PageChange[]): [added: string[], removed: string[]] {
  const added = new Set<string>();
  const removed = new Set<string>();
  for (const { linksAdded, linksRemoved } of changes) {
    for (const url of linksAdded) if (!removed.delete(url)) added.add(url);
    for (const url of linksRemoved) if (!added.delete(url)) removed.add(url);
  }
  return [[...added], [...removed]];
}

function followedBy(before: DiffPiece[], next: readonly DiffPiece[]): DiffPiece[] {
  return before.length === 0 ? [...next] : [...before, ['=', '…'], ...next];
}

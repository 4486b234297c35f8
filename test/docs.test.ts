import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

const decisions = readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`);
const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/changes.md',
  'docs/figures.md',
  'docs/postgresql.md',
  'docs/tables.md',
  'docs/scale.md',
  'docs/watch.md',
  'docs/words.md',
  'examples/README.md',
  ...decisions,
];

/** Paths in backticks (from the root) and link targets (from the page). */
function filesNamedIn(path: string, text: string): string[] {
  const named = [...text.matchAll(/`((?:src|test|docs|examples|scripts|bench)\/[\w./-]*)`/g)];
  const linked = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)];
  return [...named.map(([, to]) => to), ...linked.map(([, to]) => join(dirname(path), to))];
}

it('pages name only files that exist', () => {
  const named = PAGES.flatMap((path) =>
    filesNamedIn(path, readFileSync(join(root, path), 'utf8')).map((to) => ({ path, to })),
  );
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter(({ to }) => !existsSync(join(root, to)))).toEqual([]);
});

it('decisions are numbered without gaps and say context, choice and consequence', () => {
  decisions.sort().forEach((path, index) => {
    const number = String(index + 1).padStart(4, '0');
    const text = readFileSync(join(root, path), 'utf8');
    expect(path).toMatch(new RegExp(`^docs/decisions/${number}-[a-z0-9-]+\\.md$`));
    expect(text).toMatch(new RegExp(`^# ${number} `));
    for (const part of ['Context', 'Choice', 'Consequence']) expect(text, path).toContain(`**${part}.**`);
  });
});

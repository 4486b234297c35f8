// The Markdown files of the repository, without those of installed packages and of what is built.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const NOT_OURS = new Set(['node_modules', 'dist', '.git']);

/** Paths from the root. */
export function markdownFiles(): string[] {
  return readdirSync(REPOSITORY, { withFileTypes: true })
    .filter(({ name }) => !NOT_OURS.has(name))
    .flatMap((entry) =>
      entry.isDirectory()
        ? (readdirSync(join(REPOSITORY, entry.name), { recursive: true }) as string[]).map((name) =>
            join(entry.name, name),
          )
        : [entry.name],
    )
    .filter((path) => path.endsWith('.md') && !path.includes('node_modules'))
    .sort();
}

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../errors.ts';
import { ALIASES, OPTION_NAMES } from './option-table.ts';
import { renderErrorsDoc, renderOptionsDoc, renderOptionsSchema } from './render-docs.ts';

function onDisk(name: string): string {
  return readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
}

describe('generated pages', () => {
  it('docs/options.md is what the option table says', () => {
    expect(onDisk('options.md') === renderOptionsDoc(), 'docs/options.md is stale: run npm run docs').toBe(
      true,
    );
  });

  it('docs/options.schema.json is what the option table says', () => {
    expect(onDisk('options.schema.json') === renderOptionsSchema(), 'stale: run npm run docs').toBe(true);
  });

  it('docs/errors.md is what the error table says', () => {
    expect(onDisk('errors.md') === renderErrorsDoc(), 'docs/errors.md is stale: run npm run docs').toBe(true);
  });

  it('every option, alias and error code has its row', () => {
    const options = renderOptionsDoc();
    for (const name of [...OPTION_NAMES, ...Object.keys(ALIASES)])
      expect(options).toContain(`\n| \`${name}\``);
    const errors = renderErrorsDoc();
    for (const code of Object.keys(ERRORS)) expect(errors).toContain(`\n| \`${code}\``);
  });
});

/**
 * A statement as it may be shown to anybody: passwords in options and in addresses are masked, all else stays as it was
 * written.
 */
import { withoutSecret } from '../../config/show-value.ts';
import { tokensOf } from './lex.ts';
import { CRAWL_OPTIONS, findOption } from './option-names.ts';

export function hideSecrets(text: string): string {
  let shown = '';
  let from = 0;
  /** The option whose value comes now; options begin behind WITH. */
  let option: string | null = null;
  let isInOptions = false;
  let depth = 0;
  for (const { kind, start, end, text: written, value } of tokensOf(text)) {
    if (kind === 'symbol') {
      if (written === '(' || written === '[') depth++;
      if (written === ')' || written === ']') depth--;
      // A list may be the value: its commas are inside of its own brackets.
      if (written === ',' && depth <= 1) option = null;
      continue;
    }
    const isName = kind === 'word' || kind === 'identifier';
    if (kind === 'word' && value === 'WITH' && depth === 0) {
      isInOptions = true;
      continue;
    }
    if (isInOptions && isName && option === null) {
      option = findOption(kind === 'word' ? written : value);
      continue;
    }
    if (kind !== 'string' && !(isName && option !== null)) continue;
    const plain = kind === 'word' ? written : value;
    const masked = withoutSecret(plain, option === null ? undefined : CRAWL_OPTIONS.get(option)?.spec);
    if (masked === plain) continue;
    shown += `${text.slice(from, start)}'${String(masked).replaceAll("'", "''")}'`;
    from = end;
  }
  return shown + text.slice(from);
}

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
  /** The option whose value comes now. */
  let option: string | null = null;
  for (const { kind, start, end, text: written, value } of tokensOf(text)) {
    if (kind === 'word' || kind === 'identifier') option = findOption(kind === 'word' ? written : value);
    if (kind !== 'string') continue;
    const masked = withoutSecret(value, option === null ? undefined : CRAWL_OPTIONS.get(option)?.spec);
    if (masked === value) continue;
    shown += `${text.slice(from, start)}'${String(masked).replaceAll("'", "''")}'`;
    from = end;
  }
  return shown + text.slice(from);
}

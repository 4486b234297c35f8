/** A name of a column made of any text, such as a CSS selector: letters and digits stay, the rest becomes `_`. */
export function columnNameOf(text: string, otherwise: string): string {
  const name = text.replace(/[^\p{L}\p{M}\p{N}]+/gu, '_').replace(/^_+|_+$/g, '');
  if (name === '') return otherwise;
  return /^\p{N}/u.test(name) ? `_${name}` : name;
}

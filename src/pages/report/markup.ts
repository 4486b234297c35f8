/** Makes markup from text. Text from the web is always escaped; only markup made here is not. */
import { escapeText } from '../self-contained-page.ts';

export interface Markup {
  readonly html: string;
}
export type Content = Markup | string | number | readonly Content[];
type Attributes = Readonly<Record<string, string | number | undefined>>;

export function tag(name: string, attributes: Attributes, ...children: Content[]): Markup {
  let html = `<${name}`;
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) html += ` ${key}="${escapeText(String(value))}"`;
  }
  return { html: `${html}>${htmlOf(children)}</${name}>` };
}

export function htmlOf(content: Content): string {
  if (typeof content === 'string') return escapeText(content);
  if (typeof content === 'number') return String(content);
  return 'html' in content ? content.html : content.map(htmlOf).join('');
}

/** A place along the width of a picture, whose final width is not known. */
export const percent = (share: number): string => `${Math.round(share * 100_000) / 1000}%`;

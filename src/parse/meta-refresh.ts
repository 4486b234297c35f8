/**
 * Reads the content of <meta http-equiv=refresh> (and of a Refresh header) by the HTML standard, section "shared
 * declarative refresh steps": seconds are cut to a whole number, the URL is as written. Null if it is no refresh.
 */

export interface MetaRefresh {
  seconds: number;
  /** Null: the page itself. */
  url: string | null;
}

const CONTENT = /^[\t\n\f\r ]*(?:(\d+)[\d.]*|\.[\d.]*)(?:$|(?=[\t\n\f\r ;,]))/;
const SEPARATOR = /^[\t\n\f\r ]*[;,]?[\t\n\f\r ]*/;
const URL_LABEL = /^url[\t\n\f\r ]*=[\t\n\f\r ]*/i;

export function parseMetaRefresh(content: string): MetaRefresh | null {
  const time = CONTENT.exec(content);
  if (time === null) return null;
  const seconds = Number(time[1] ?? '0');
  let rest = content.slice(time[0].length).replace(SEPARATOR, '');
  if (rest === '') return { seconds, url: null };
  rest = rest.replace(URL_LABEL, '');
  const quote = rest[0];
  if (quote === '"' || quote === "'") {
    const close = rest.indexOf(quote, 1);
    rest = rest.slice(1, close < 0 ? undefined : close);
  }
  // The URL parser would remove these characters anyway.
  return { seconds, url: rest.replace(/[\t\n\r]/g, '').replace(/^[\0-\x20]+|[\0-\x20]+$/g, '') };
}

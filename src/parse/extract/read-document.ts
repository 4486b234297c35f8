/**
 * One parse of a page, from its bytes or from text. Bytes are decoded as everywhere in this program: byte order mark,
 * Content-Type, declaration in the page. XHTML that is well-formed is read as XML. Promises a document for any input.
 */
import { createUtf8Reader } from '../charset.ts';
import { isXmlType, parseMimeType } from '../mime-type.ts';
import { xhtmlToHtml } from '../xhtml-to-html.ts';
import { buildTree } from './build-tree.ts';
import type { PageDocument } from './page-tree.ts';

export interface DocumentSource {
  /** As the server sent it. */
  contentType?: string | null;
  /** A label that is known already: it counts instead of that of the Content-Type. */
  charset?: string | null;
}

export type DocumentReader = (page: Uint8Array | string, source?: DocumentSource) => PageDocument;

/** A half of a character. Databases do not take it. */
const LONE_SURROGATE = /\p{Surrogate}/gu;

export function createDocumentReader(): DocumentReader {
  const readUtf8 = createUtf8Reader();

  function decode(bytes: Uint8Array, { contentType, charset }: DocumentSource): string {
    const type = parseMimeType(contentType ?? '') ?? { essence: 'text/html', parameters: new Map() };
    if (charset !== undefined && charset !== null) type.parameters.set('charset', charset);
    const body = readUtf8(bytes, bytes.length, type);
    const text = Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.length).toString('utf8');
    if (!isXmlType(type.essence)) return text;
    return xhtmlToHtml(text) ?? text;
  }

  return (page, source = {}) => {
    const text = typeof page === 'string' ? page.replace(LONE_SURROGATE, '\ufffd') : decode(page, source);
    return buildTree(text.startsWith('\ufeff') ? text.slice(1) : text);
  };
}

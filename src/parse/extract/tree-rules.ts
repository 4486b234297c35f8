/** The element lists of the HTML standard's tree construction, as far as build-tree.ts follows it. */
import { type PageElement, wordSet } from './page-tree.ts';

/** May stand in the head. */
export const HEAD_ELEMENTS = wordSet(
  'base basefont bgsound link meta noframes noscript script style template title',
);

/** End an open paragraph. */
export const BLOCKS = wordSet(
  'address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 h4 ' +
    'h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp dd dt',
);

export const HEADINGS = wordSet('h1 h2 h3 h4 h5 h6');
export const FORMATTING = wordSet('a b big code em font i nobr s small strike strong tt u');
export const TABLE_PARTS = wordSet('caption col colgroup tbody td tfoot th thead tr');
export const SECTIONS = wordSet('tbody tfoot thead');
export const CELLS = wordSet('td th');
export const ROWS = wordSet('td th tr');
/** Where a cell, a row and a column may be put into a table. */
export const ROW_CONTEXT = wordSet('table tbody tfoot thead tr');
export const SECTION_CONTEXT = wordSet('table tbody tfoot thead');
export const COLUMN_CONTEXT = wordSet('colgroup table');

/** An end tag does not reach through these. */
export const SCOPE = wordSet('applet caption html marquee object table td template th');
export const BUTTON_SCOPE: ReadonlySet<string> = new Set([...SCOPE, 'button']);
export const LIST_SCOPE: ReadonlySet<string> = new Set([...SCOPE, 'ol', 'ul']);
export const TABLE_SCOPE = wordSet('html table template');
export const TEMPLATE_SCOPE = wordSet('html');

/** An end tag of an ordinary element does not reach through these either. */
export const SPECIAL = wordSet(
  'address applet area article aside base basefont bgsound blockquote body br button caption center col colgroup dd ' +
    'details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header ' +
    'hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed noframes noscript object ' +
    'ol p param plaintext pre script search section select source style summary table tbody td template textarea tfoot ' +
    'th thead title tr track ul wbr xmp',
);

/** These never belong to SVG or MathML. */
export const BREAKOUTS = wordSet(
  'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ' +
    'ol p pre ruby s small span strong strike sub sup table tt u ul var',
);

const INTEGRATION_POINTS = wordSet('annotation-xml desc foreignobject mi mn mo ms mtext title');

/** Whether what stands in this element belongs to SVG or MathML. */
export function holdsForeign(element: PageElement): boolean {
  return element.isForeign && !INTEGRATION_POINTS.has(element.name);
}

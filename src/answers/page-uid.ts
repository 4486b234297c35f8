/** The ids of pages, for answers; the engine tells them too. */
export { pageNumberOf, pageUid } from '../primitives/page-uid.ts';

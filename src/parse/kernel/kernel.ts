/**
 * The loops over bytes, in AssemblyScript: compiled to WebAssembly, they run at nearly full speed from the first page
 * on, while JavaScript would be interpreted for the first hundred. See docs/decisions/0030-scan-kernel.md.
 */

export { copyPre } from './pre';
export { addLink, read } from './scan';
export { breakLines, nextPermalink } from './shape';
export { countWords } from './words';

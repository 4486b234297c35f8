/**
 * The loops over bytes, in AssemblyScript. Compiled to WebAssembly, they run at nearly full speed from the first page
 * on; JavaScript would be interpreted for the first hundred pages. See docs/decisions/0030-scan-kernel.md.
 */

export { addLink, read } from './scan';
export { beginShape, endShape, nextDoubtful, shapePiece } from './shape';
export { keepReference } from './white';
export { countWords } from './words';

/**
 * Follows the elements that are a separate part of the page (main text, what stands around it, what is not shown), and
 * reports to the text regions where each begins and ends. One of each kind is open at a time; what is nested in it
 * belongs to it. The kernel counts the tags inside and says when one ends.
 */

import * as at from './kernel-layout.ts';
import { BOX_OF_TAG, createNameReader, endingOf, NO_BOX } from './page-parts.ts';
import type { ScanKernel } from './scan-kernel.ts';
import type { TextRegions } from './text-regions.ts';

export interface OpenBoxes {
  reset(): void;
  /** At the start tag where the kernel stopped. `isShown`: not inside svg, templates and the like. */
  start(id: number, hash: number, isShown: boolean): void;
  /** At a tag that ends boxes, one bit each. */
  end(ended: number): void;
  startArticle(): void;
  endArticle(): void;
  /** After the last byte. */
  finish(): void;
}

/** Instead of the tag of an open box. */
const CLOSED = -1;

export function createOpenBoxes(kernel: ScanKernel, regions: TextRegions): OpenBoxes {
  const partOfNames = createNameReader();
  /** The tag that opened that box. */
  const openAs = new Int32Array(at.BOX_COUNT).fill(CLOSED);

  /** Boxes are searched only where they can matter. */
  function seek(): void {
    const isAround =
      openAs[at.MAIN_BOX] === CLOSED &&
      openAs[at.LANDMARK_BOX] === CLOSED &&
      openAs[at.NAMED_BOX] === CLOSED &&
      !regions.isInArticle();
    const isShown = openAs[at.HIDDEN_BOX] === CLOSED;
    kernel.state[at.SEEKS] =
      at.MAY_BE_MARKED | (isAround ? at.MAY_BE_NAMED : 0) | (isShown ? at.MAY_BE_HIDDEN : 0);
  }

  function watch(box: number, isOn: boolean): void {
    const { watched } = kernel;
    const { counted, ends } = endingOf(openAs[box]);
    const counts = 1 << box;
    const closes = counts << at.BOX_COUNT;
    for (const id of counted) watched[id] = isOn ? watched[id] | counts : watched[id] & ~counts;
    for (const id of ends) watched[id] = isOn ? watched[id] | closes : watched[id] & ~closes;
  }

  function open(box: number, id: number, hash: number, part: number): void {
    const { state } = kernel;
    openAs[box] = id;
    state[at.BOX_DEPTHS + box] = 1;
    state[at.BOX_HASHES + box] = hash;
    watch(box, true);
    regions.open(box, state[at.SIZE], state[at.LINK_COUNT], part);
  }

  function forget(box: number): void {
    watch(box, false);
    openAs[box] = CLOSED;
  }

  function cancel(box: number): void {
    if (openAs[box] === CLOSED) return;
    forget(box);
    regions.cancel(box);
  }

  function namesOf(signs: number): string {
    const { bytes, state } = kernel;
    const classes =
      (signs & at.HAS_CLASS) === 0
        ? ''
        : bytes.toString('latin1', state[at.CLASS_START], state[at.CLASS_END]);
    if ((signs & at.HAS_ID) === 0) return classes;
    return `${classes} ${bytes.toString('latin1', state[at.ID_START], state[at.ID_END])}`;
  }

  function startMain(id: number, hash: number): void {
    if (openAs[at.MAIN_BOX] !== CLOSED) return;
    // A box that holds the main text neither stands around it nor is hidden; or it was never closed.
    cancel(at.LANDMARK_BOX);
    cancel(at.NAMED_BOX);
    cancel(at.HIDDEN_BOX);
    open(at.MAIN_BOX, id, hash, -1);
  }

  function startOther(id: number, hash: number, signs: number): void {
    const byTag = BOX_OF_TAG[id];
    const isHidden = (signs & at.IS_HIDDEN) !== 0 || (byTag === at.HIDDEN_BOX && (signs & at.IS_OPEN) === 0);
    if (isHidden && openAs[at.HIDDEN_BOX] === CLOSED) open(at.HIDDEN_BOX, id, hash, -1);
    if (byTag === at.LANDMARK_BOX || (signs & at.IS_LANDMARK) !== 0) {
      if (openAs[at.LANDMARK_BOX] === CLOSED) open(at.LANDMARK_BOX, id, hash, -1);
    } else if ((signs & at.HAS_NAME) !== 0 && openAs[at.NAMED_BOX] === CLOSED) {
      const part = partOfNames(namesOf(signs));
      if (part >= 0) open(at.NAMED_BOX, id, hash, part);
    }
  }

  return {
    reset() {
      for (let box = 0; box < at.BOX_COUNT; box++) if (openAs[box] !== CLOSED) forget(box);
      seek();
    },
    start(id, hash, isShown) {
      const signs = kernel.state[at.SIGNS];
      if (signs === 0 && BOX_OF_TAG[id] === NO_BOX) return;
      if (BOX_OF_TAG[id] === at.MAIN_BOX || (signs & at.IS_MAIN) !== 0) startMain(id, hash);
      else if (isShown) startOther(id, hash, signs);
      seek();
    },
    end(ended) {
      const { state } = kernel;
      for (let box = 0; box < at.BOX_COUNT; box++) {
        if ((ended & (1 << box)) === 0 || openAs[box] === CLOSED) continue;
        forget(box);
        regions.close(box, state[at.SIZE], state[at.LINK_COUNT]);
      }
      seek();
    },
    startArticle() {
      cancel(at.NAMED_BOX);
      cancel(at.HIDDEN_BOX);
      regions.enterArticle(kernel.state[at.SIZE]);
      seek();
    },
    endArticle() {
      regions.leaveArticle(kernel.state[at.SIZE]);
      seek();
    },
    finish() {
      // Without an end, it is not known what belongs to it.
      cancel(at.NAMED_BOX);
      cancel(at.HIDDEN_BOX);
      if (openAs[at.LANDMARK_BOX] !== CLOSED) {
        const { state } = kernel;
        regions.closeUnended(at.LANDMARK_BOX, state[at.SIZE], state[at.LINK_COUNT]);
      }
    },
  };
}

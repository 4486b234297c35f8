/**
 * A finished drawing of a part of the map, somewhat larger than the view. While the map moves, the drawing is moved and
 * scaled with it, which costs almost nothing. What is beyond its edges is missing until it is drawn again.
 */
import type { Sight } from './camera.ts';

const MARGIN = 0.2;

/** The part of the map: the middle, pixels per unit, and pixels in all (of the page, not of the screen). */
export interface Frame {
  sight: Sight;
  width: number;
  height: number;
}

export function frameAround(sight: Sight, width: number, height: number): Frame {
  return { sight: { ...sight }, width: width * (1 + 2 * MARGIN), height: height * (1 + 2 * MARGIN) };
}

export interface Picture {
  readonly context: CanvasRenderingContext2D;
  /** Allocates a drawing of this part; the canvas is empty then. */
  begin(frame: Frame, columns: number, rows: number): void;
  forget(): void;
  /** Whether nothing is missing from this view, and the scale is near enough to look sharp. */
  suits(sight: Sight, width: number, height: number, tolerance: number): boolean;
  paint(target: CanvasRenderingContext2D, sight: Sight, width: number, height: number): void;
}

export function createPicture(extent: number): Picture {
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d')!;
  let shown: Frame | undefined;

  return {
    context,
    begin(frame, columns, rows) {
      shown = frame;
      [canvas.width, canvas.height] = [columns, rows];
    },
    forget() {
      shown = undefined;
    },
    suits(sight, width, height, tolerance) {
      if (shown === undefined) return false;
      const { sight: own } = shown;
      if (Math.abs(Math.log(sight.scale / own.scale)) > tolerance) return false;
      const half = (pixels: number, scale: number) => pixels / scale / 2;
      // Nothing is missing beyond the rim of the map.
      const isInside = (centre: number, reach: number, ownCentre: number, ownReach: number) =>
        Math.max(centre - reach, -extent) >= ownCentre - ownReach &&
        Math.min(centre + reach, extent) <= ownCentre + ownReach;
      return (
        isInside(sight.x, half(width, sight.scale), own.x, half(shown.width, own.scale)) &&
        isInside(sight.y, half(height, sight.scale), own.y, half(shown.height, own.scale))
      );
    },
    paint(target, sight, width, height) {
      if (shown === undefined) return;
      const ratio = sight.scale / shown.sight.scale;
      const x = (shown.sight.x - sight.x) * sight.scale + width / 2;
      const y = (shown.sight.y - sight.y) * sight.scale + height / 2;
      const [w, h] = [shown.width * ratio, shown.height * ratio];
      target.drawImage(canvas, x - w / 2, y - h / 2, w, h);
    },
  };
}

/**
 * Draws the domains directly while they are few. Thousands of them take most of a frame, so they become an image that
 * moves with the map and is drawn again, sharp, when the map rests.
 */
import type { Camera } from './camera.ts';
import { drawDomains, type Look } from './draw-domains.ts';
import type { Palette } from './palette.ts';
import { createPicture, frameAround } from './picture.ts';
import type { Terrain } from './terrain.ts';
import type { View } from './view.ts';

const LIVE_AT_MOST = 1_000;

export interface DomainLayer {
  /** Forgets the image: other domains or other colours must be shown. */
  reset(): void;
  paint(target: CanvasRenderingContext2D, ratio: number, palette: Palette, isMoving: boolean): void;
}

export function createDomainLayer(terrain: Terrain, view: View, camera: Camera, looks: Look[]): DomainLayer {
  const picture = createPicture(terrain.extent);
  const isDrawn = (at: number) => view.visible[at] === 1;
  let isThere = false;

  function redraw(ratio: number, palette: Palette): void {
    const frame = frameAround(camera.sight, camera.width, camera.height);
    const { context } = picture;
    picture.begin(frame, Math.ceil(frame.width * ratio), Math.ceil(frame.height * ratio));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawDomains(looks, { context, terrain, frame, palette, isDrawn });
    isThere = true;
  }

  return {
    reset() {
      picture.forget();
      isThere = false;
    },
    paint(target, ratio, palette, isMoving) {
      const { sight, width, height } = camera;
      if (view.shown <= LIVE_AT_MOST) {
        drawDomains(looks, { context: target, terrain, frame: camera, palette, isDrawn });
        return;
      }
      const isGood = picture.suits(sight, width, height, 0) || (isMoving && isThere);
      if (!isGood) redraw(ratio, palette);
      picture.paint(target, sight, width, height);
    },
  };
}

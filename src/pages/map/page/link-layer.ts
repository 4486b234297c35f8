/**
 * The links as an image of their own. Drawing 60,000 curves takes longer than a frame, so each frame draws a slice.
 * Until the new image is finished, the last one is shown, moved and scaled. The map never waits for it.
 */
import type { Sight } from './camera.ts';
import { createInk } from './ink.ts';
import type { Palette } from './palette.ts';
import { createPicture, type Frame, frameAround } from './picture.ts';
import type { Terrain } from './terrain.ts';
import type { View } from './view.ts';

const SLICE_MS = 6;
/** How far a curve is bent towards the centre: 0.5 would be straight. */
export const BEND = 0.36;
/** A curve is drawn as straight pieces of about this length. */
const PIECE_PX = 40;
/** So many links are drawn at the screen's full sharpness; more get a coarser sheet. */
const SHARP_AT_MOST = 15_000;
/** Links are a wash of ink: they may be a little blurred. */
const TOLERANCE = 0.25;

export interface LinkLayer {
  /** Forgets the image: other links or other colours must be shown. */
  reset(): void;
  /** Whether the image covers the current view, and is as sharp as it should be. */
  suits(sight: Sight, width: number, height: number): boolean;
  /** Begins a new image for the current view. */
  begin(sight: Sight, width: number, height: number, ratio: number, palette: Palette): void;
  /** Continues to draw; false if nothing is left to draw. */
  work(): boolean;
  paint(context: CanvasRenderingContext2D, sight: Sight, width: number, height: number): void;
}

interface Coming extends Frame {
  /** Points of the sheet for a pixel of the page. */
  ratio: number;
  colour: number[];
}

export function createLinkLayer(terrain: Terrain, view: View): LinkLayer {
  const { data } = terrain;
  const picture = createPicture(terrain.extent);
  const ink = createInk();
  let coming: Coming | undefined;
  let links: Int32Array = new Int32Array(0);
  let next = 0;

  function chosen(): Int32Array {
    const mode = view.filters.links;
    const isChosen = (i: number) =>
      (mode === 'all' || terrain.isMain[i] === 1) && view.visible[data.from[i]] & view.visible[data.to[i]];
    const all = mode === 'none' ? [] : data.from.keys();
    return Int32Array.from([...all].filter(isChosen));
  }

  function begin(sight: Sight, width: number, height: number, ratio: number, palette: Palette): void {
    links = chosen();
    next = 0;
    const sharpness = links.length > SHARP_AT_MOST ? 1 : ratio;
    coming = {
      ...frameAround(sight, width, height),
      ratio: sharpness,
      colour: palette.wash.split(' ').map(Number),
    };
    ink.reset(Math.ceil(coming.width * sharpness), Math.ceil(coming.height * sharpness));
  }

  function work(): boolean {
    if (coming === undefined) return false;
    const until = performance.now() + SLICE_MS;
    const thin = inkFor(links.length);
    while (next < links.length) {
      curve(links[next], coming, thin);
      next++;
      if (next % 32 === 0 && performance.now() > until) return true;
    }
    picture.begin(coming, ink.width, ink.height);
    picture.context.putImageData(ink.toImage(coming.colour, 0.75), 0, 0);
    coming = undefined;
    return false;
  }

  /** Bent towards the centre, so that links along a ring do not hide the domains on it. */
  function curve(link: number, { sight, ratio }: Coming, thin: number): void {
    const [from, to] = [data.from[link], data.to[link]];
    const scale = sight.scale * ratio;
    const [dx, dy] = [ink.width / 2 - sight.x * scale, ink.height / 2 - sight.y * scale];
    const [x1, y1] = [data.x[from] * scale + dx, data.y[from] * scale + dy];
    const [x2, y2] = [data.x[to] * scale + dx, data.y[to] * scale + dy];
    const [cx, cy] = [
      (data.x[from] + data.x[to]) * BEND * scale + dx,
      (data.y[from] + data.y[to]) * BEND * scale + dy,
    ];
    if (Math.max(x1, x2, cx) < 0 || Math.max(y1, y2, cy) < 0) return;
    if (Math.min(x1, x2, cx) > ink.width || Math.min(y1, y2, cy) > ink.height) return;
    const amount = thin * (1 + 0.7 * Math.log10(data.weight[link]));
    const length = Math.hypot(cx - x1, cy - y1) + Math.hypot(x2 - cx, y2 - cy);
    const pieces = Math.min(24, Math.ceil(length / PIECE_PX) + 1);
    let [px, py] = [x1, y1];
    for (let piece = 1; piece <= pieces; piece++) {
      const t = piece / pieces;
      const u = 1 - t;
      const x = u * u * x1 + 2 * u * t * cx + t * t * x2;
      const y = u * u * y1 + 2 * u * t * cy + t * t * y2;
      ink.line(px, py, x, y, amount);
      [px, py] = [x, y];
    }
  }

  return {
    reset() {
      picture.forget();
      coming = undefined;
    },
    suits: (sight, width, height) => picture.suits(sight, width, height, TOLERANCE),
    begin,
    work,
    paint: picture.paint,
  };
}

/** With many links, each leaves less ink; otherwise the image would be black. */
function inkFor(links: number): number {
  return Math.min(0.34, Math.max(0.005, 70 * (links + 1) ** -0.88));
}

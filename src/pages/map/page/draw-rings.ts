/**
 * The rings under the domains: a wash of ink that becomes lighter outwards, a line where each begins, and its name on
 * the line.
 */
import type { Camera } from './camera.ts';
import type { Palette } from './palette.ts';
import type { Terrain } from './terrain.ts';

const FULL_TURN = 2 * Math.PI;

export function drawRings(
  context: CanvasRenderingContext2D,
  { data, extent }: Terrain,
  camera: Camera,
  { wash }: Palette,
): void {
  const [x, y] = camera.toScreen(0, 0);
  const { scale } = camera.sight;
  for (const [ring, { outer }] of data.rings.entries()) {
    const nearness = 1 - ring / data.rings.length;
    context.beginPath();
    context.arc(x, y, outer * scale, 0, FULL_TURN);
    context.fillStyle = `rgb(${wash} / ${0.012 + 0.02 * nearness})`;
    context.fill();
    context.lineWidth = 0.6 + 0.9 * nearness;
    context.strokeStyle = `rgb(${wash} / ${0.12 + 0.16 * nearness})`;
    context.stroke();
  }
  // A few ripples beyond the map, fainter and fainter.
  for (let i = 1; i <= 3; i++) {
    context.beginPath();
    context.arc(x, y, extent * (1 + 0.045 * i * i ** 0.35) * scale, 0, FULL_TURN);
    context.lineWidth = 0.7;
    context.strokeStyle = `rgb(${wash} / ${0.11 - 0.027 * i})`;
    context.stroke();
  }
}

export interface RingName {
  label: string;
  /** The middle of the name. */
  x: number;
  y: number;
  width: number;
}

/** At twelve o'clock. Rings that are close together on the screen cannot all be named. */
export function placeRingNames(
  context: CanvasRenderingContext2D,
  { data }: Terrain,
  camera: Camera,
  { sans }: Palette,
): RingName[] {
  context.font = fontOf(sans);
  const names: RingName[] = [];
  let above = Infinity;
  for (const { label, outer } of data.rings) {
    const [x, y] = camera.toScreen(0, -outer);
    if (above - y < 22 || outer * camera.sight.scale < 24) continue;
    above = y;
    names.push({ label, x, y, width: context.measureText(label).width + 14 });
  }
  return names;
}

export function drawRingNames(
  context: CanvasRenderingContext2D,
  names: readonly RingName[],
  { paper, ink, sans }: Palette,
): void {
  context.font = fontOf(sans);
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const { label, x, y, width } of names) {
    context.beginPath();
    context.roundRect(x - width / 2, y - 9, width, 18, 9);
    context.fillStyle = paper;
    context.fill();
    context.fillStyle = ink;
    context.fillText(label, x, y + 0.5);
  }
}

const fontOf = (sans: string) => `600 11px ${sans}`;

/**
 * Draws the domains, each class with its own shape and colour. Domains of equal look go into one path, because starting
 * a path costs more than a circle in it. Domains outside of the view and filtered ones are left out.
 */
import { DOMAIN_CLASSES } from '../terrain-map.ts';
import type { Camera } from './camera.ts';
import { BEND } from './link-layer.ts';
import type { Palette } from './palette.ts';
import type { Frame } from './picture.ts';
import type { Terrain } from './terrain.ts';

const FULL_TURN = 2 * Math.PI;
const [QUALITY, DISCOVERED, STUB, BLACKLIST] = DOMAIN_CLASSES.map((_, place) => place);
const TONES = 4;

export interface Look {
  place: number;
  /** For discovered domains: place among the tones; TONES for an unknown depth. */
  tone: number;
  members: Int32Array;
}

/** Outermost first, so that the centre is never covered. */
export function toLooks({ data }: Terrain): Look[] {
  const looks = new Map<number, Look & { list: number[] }>();
  for (const [at, place] of data.classes.entries()) {
    const depth = data.depth[at];
    const tone = place !== DISCOVERED ? 0 : depth < 0 ? TONES : Math.min(Math.max(depth, 1), TONES) - 1;
    const key = place * 8 + tone;
    const look = looks.get(key);
    if (look === undefined) looks.set(key, { place, tone, members: new Int32Array(0), list: [at] });
    else look.list.push(at);
  }
  const order = [BLACKLIST, STUB, DISCOVERED, QUALITY];
  return [...looks.values()]
    .sort((a, b) => order.indexOf(a.place) - order.indexOf(b.place) || b.tone - a.tone)
    .map(({ place, tone, list }) => ({ place, tone, members: Int32Array.from(list) }));
}

export interface DomainDrawing {
  context: CanvasRenderingContext2D;
  terrain: Terrain;
  /** The visible part of the map, or a part around it. */
  frame: Frame;
  palette: Palette;
  isDrawn(at: number): boolean;
}

export function drawDomains(looks: readonly Look[], drawing: DomainDrawing): void {
  for (const look of looks) drawLook(look, drawing);
}

function drawLook({ place, tone, members }: Look, drawing: DomainDrawing): void {
  const { context, terrain, frame, palette, isDrawn } = drawing;
  const { x, y, radius } = terrain.data;
  const { sight, width, height } = frame;
  context.beginPath();
  for (const at of members) {
    if (!isDrawn(at)) continue;
    const r = Math.max(radius[at] * sight.scale, 1);
    const sx = (x[at] - sight.x) * sight.scale + width / 2;
    const sy = (y[at] - sight.y) * sight.scale + height / 2;
    if (sx < -r || sy < -r || sx > width + r || sy > height + r) continue;
    trace(context, place, sx, sy, r);
  }
  if (place === BLACKLIST) {
    context.fillStyle = palette.paper;
    context.fill();
    context.strokeStyle = palette.blacklist;
    context.lineWidth = Math.min(1.8, Math.max(0.8, 3 * sight.scale));
    context.stroke();
    return;
  }
  context.fillStyle = colourOf(place, tone, palette);
  context.fill();
  if (place !== QUALITY) return;
  context.strokeStyle = palette.quality;
  context.lineWidth = 1;
  context.beginPath();
  for (const at of members) {
    if (!isDrawn(at)) continue;
    const sx = (x[at] - sight.x) * sight.scale + width / 2;
    const sy = (y[at] - sight.y) * sight.scale + height / 2;
    const r = Math.max(radius[at] * sight.scale, 1) + 3;
    context.moveTo(sx + r, sy);
    context.arc(sx, sy, r, 0, FULL_TURN);
  }
  context.stroke();
}

function trace(context: CanvasRenderingContext2D, place: number, x: number, y: number, r: number): void {
  if (place === STUB) {
    context.moveTo(x, y - r);
    context.lineTo(x + r, y);
    context.lineTo(x, y + r);
    context.lineTo(x - r, y);
    context.closePath();
  } else if (r < 1.6) {
    // A dot: nobody sees that it is square, and it costs a tenth.
    context.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  } else {
    context.moveTo(x + r, y);
    context.arc(x, y, r, 0, FULL_TURN);
    if (place === BLACKLIST && r > 2.5) {
      const d = r * Math.SQRT1_2;
      context.moveTo(x - d, y + d);
      context.lineTo(x + d, y - d);
    }
  }
}

function colourOf(place: number, tone: number, palette: Palette): string {
  if (place === QUALITY) return palette.quality;
  if (place === STUB) return palette.stub;
  return tone === TONES ? palette.toneUnknown : palette.tones[tone];
}

/** The links of the selected domain, over all others: outgoing and incoming in two colours. */
export function drawSelectedLinks(
  { context, terrain, palette, isDrawn }: Omit<DomainDrawing, 'frame'>,
  camera: Camera,
  at: number,
): void {
  const { data } = terrain;
  const { scale } = camera.sight;
  const [cx, cy] = camera.toScreen(0, 0);
  for (const [links, colour] of [
    [terrain.incoming(at), palette.incoming],
    [terrain.outgoing(at), palette.outgoing],
  ] as const) {
    context.strokeStyle = colour;
    context.globalAlpha = Math.min(0.9, Math.max(0.35, 8 / Math.sqrt(links.length + 1)));
    for (const link of links) {
      const [from, to] = [data.from[link], data.to[link]];
      if (!isDrawn(from) || !isDrawn(to)) continue;
      const [x1, y1] = camera.toScreen(data.x[from], data.y[from]);
      const [x2, y2] = camera.toScreen(data.x[to], data.y[to]);
      context.lineWidth = 0.8 + 0.6 * Math.log10(data.weight[link]) + Math.min(0.6, scale / 4);
      context.beginPath();
      context.moveTo(x1, y1);
      // The same bend as in the layer of all links.
      context.quadraticCurveTo(cx + (x1 + x2 - 2 * cx) * BEND, cy + (y1 + y2 - 2 * cy) * BEND, x2, y2);
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

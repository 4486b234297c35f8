/** Names beside the domains, the weightiest first, as many as fit without covering each other or a large domain. */
import type { Camera } from './camera.ts';
import type { RingName } from './draw-rings.ts';
import type { Palette } from './palette.ts';
import { createRoom, type Room } from './room.ts';
import type { Terrain } from './terrain.ts';

const MOST = 90;
const LINE_PX = 16;
const LONGEST = 34;
/** Domains that look smaller are not named, and names may cover them. */
const SMALL_PX = 6.5;
const LARGE_PX = 9;

export interface LabelDrawing {
  context: CanvasRenderingContext2D;
  camera: Camera;
  palette: Palette;
  ringNames: readonly RingName[];
  /** Named first, however small. */
  first: readonly number[];
  isDrawn(at: number): boolean;
}

export function createLabels({ data, count }: Terrain) {
  const isQuality = (at: number) => data.classes[at] === 0;
  /** Quality before all others, then by size. */
  const order = Int32Array.from({ length: count }, (_, at) => at).sort(
    (a, b) => Number(isQuality(b)) - Number(isQuality(a)) || data.radius[b] - data.radius[a] || a - b,
  );
  const widths = new Map<number, number>();
  let font = '';

  const textOf = (at: number) => {
    const name = data.names[at];
    return name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
  };

  function widthOf(context: CanvasRenderingContext2D, at: number): number {
    let width = widths.get(at);
    if (width === undefined) {
      width = context.measureText(textOf(at)).width;
      widths.set(at, width);
    }
    return width;
  }

  /** The names of rings and the large domains are there already. */
  function furnish(room: Room, { camera, ringNames, isDrawn }: LabelDrawing): void {
    const { scale } = camera.sight;
    for (const { x, y, width } of ringNames) room.take(x - width / 2, y - 9, width, 18);
    for (const at of order) {
      const r = data.radius[at] * scale;
      if (!isQuality(at) && r < LARGE_PX) break;
      if (!isDrawn(at)) continue;
      const [x, y] = camera.toScreen(data.x[at], data.y[at]);
      room.take(x - r * 0.75, y - r * 0.75, r * 1.5, r * 1.5);
    }
  }

  return function drawLabels(drawing: LabelDrawing): void {
    const { context, camera, palette, first, isDrawn } = drawing;
    if (font !== palette.sans) widths.clear();
    font = palette.sans;
    context.font = `12px ${font}`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    context.lineWidth = 3.5;
    context.strokeStyle = palette.paper;
    const room = createRoom(camera.width, camera.height);
    furnish(room, drawing);
    let placed = 0;

    function label(at: number): void {
      const [x, y] = camera.toScreen(data.x[at], data.y[at]);
      const r = Math.max(data.radius[at] * camera.sight.scale, 1) + (isQuality(at) ? 5 : 2);
      if (x < -r || y < -r || x > camera.width + r || y > camera.height + r) return;
      const width = widthOf(context, at);
      const below: [number, number] = [x, y + r + LINE_PX / 2];
      const spots = isQuality(at)
        ? [below, [x, y - r - LINE_PX / 2], [x + r + width / 2 + 2, y], [x - r - width / 2 - 2, y]]
        : [below];
      for (const [left, middle] of spots) {
        const box = [left - width / 2 - 2, middle - LINE_PX / 2, width + 4, LINE_PX] as const;
        if (!room.isFree(...box)) continue;
        room.take(...box);
        placed++;
        context.strokeText(textOf(at), left, middle);
        context.fillStyle = isQuality(at) ? palette.quality : palette.ink;
        context.fillText(textOf(at), left, middle);
        return;
      }
    }

    for (const at of first) label(at);
    for (const at of order) {
      if (placed >= MOST) break;
      // By size from here on: the rest is smaller still.
      if (!isQuality(at) && data.radius[at] * camera.sight.scale < SMALL_PX) break;
      if (isDrawn(at) && !first.includes(at)) label(at);
    }
  };
}

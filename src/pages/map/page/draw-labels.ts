/**
 * Names beside the domains: always that of the selection, then the weightiest, as many as fit without covering each
 * other or a domain. Zooming in makes space for more.
 */
import type { Camera } from './camera.ts';
import type { RingName } from './draw-rings.ts';
import type { Palette } from './palette.ts';
import { createRoom, type Room } from './room.ts';
import type { Terrain } from './terrain.ts';

/** More would take too long for a frame, and nobody reads them. */
const MOST = 300;
const MOST_TRIES = 1_500;
const LINE_PX = 16;
const LONGEST = 34;
/** The name of a domain that looks larger may cover its rim. */
const LARGE_PX = 9;

export interface LabelDrawing {
  context: CanvasRenderingContext2D;
  camera: Camera;
  palette: Palette;
  ringNames: readonly RingName[];
  /** Elements over the map: search and zoom. */
  covered: readonly Pick<DOMRect, 'x' | 'y' | 'width' | 'height'>[];
  /** Named first, whatever they cover. */
  first: readonly number[];
  isDrawn(at: number): boolean;
}

type Box = readonly [left: number, top: number, width: number, height: number];

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

  const isInSight = ({ camera }: LabelDrawing, x: number, y: number, r: number) =>
    x >= -r && y >= -r && x <= camera.width + r && y <= camera.height + r;

  const placeOf = ({ camera }: LabelDrawing, at: number): [x: number, y: number, r: number] => [
    ...camera.toScreen(data.x[at], data.y[at]),
    Math.max(data.radius[at] * camera.sight.scale, 1),
  ];

  function furnish(room: Room, { ringNames, covered }: LabelDrawing): void {
    for (const { x, y, width } of ringNames) room.take(x - width / 2, y - 9, width, 18);
    for (const { x, y, width, height } of covered) room.take(x, y, width, height);
  }

  function furnishDomains(room: Room, drawing: LabelDrawing, inSight: readonly number[]): void {
    for (const at of inSight) {
      const [x, y, r] = placeOf(drawing, at);
      const half = r < LARGE_PX ? r : r * 0.75;
      room.take(x - half, y - half, 2 * half, 2 * half);
    }
  }

  /** Below, above, to the right and to the left: the middle of the text. */
  function spotsOf(drawing: LabelDrawing, at: number, width: number): [number, number][] {
    const [x, y, size] = placeOf(drawing, at);
    const r = size + (isQuality(at) ? 5 : 2);
    const aside = r + width / 2 + 3;
    return [
      [x, y + r + LINE_PX / 2],
      [x, y - r - LINE_PX / 2],
      [x + aside, y],
      [x - aside, y],
    ];
  }

  const boxAt = ([left, middle]: readonly [number, number], width: number): Box => [
    left - width / 2 - 2,
    middle - LINE_PX / 2,
    width + 4,
    LINE_PX,
  ];

  function write({ context, palette }: LabelDrawing, at: number, [x, y]: readonly [number, number]): void {
    context.strokeText(textOf(at), x, y);
    context.fillStyle = isQuality(at) ? palette.quality : palette.ink;
    context.fillText(textOf(at), x, y);
  }

  /** On a background of its own, inside the picture, whatever is under it. */
  function writeOver(drawing: LabelDrawing, room: Room, at: number): Box | null {
    const { context, camera, palette } = drawing;
    const [x, y, r] = placeOf(drawing, at);
    if (!isInSight(drawing, x, y, r)) return null;
    context.font = `600 12px ${font}`;
    const { width } = context.measureText(textOf(at));
    const spots = spotsOf(drawing, at, width);
    const [left, middle] = spots.find((spot) => room.isFree(...boxAt(spot, width))) ?? spots[0];
    const within = (value: number, half: number, size: number) =>
      Math.min(Math.max(value, half + 4), Math.max(half + 4, size - half - 4));
    const spot = [
      within(left, width / 2 + 2, camera.width),
      within(middle, LINE_PX / 2, camera.height),
    ] as const;
    const [boxLeft, top, boxWidth, height] = boxAt(spot, width);
    room.take(boxLeft, top, boxWidth, height);
    context.globalAlpha = 0.85;
    context.fillStyle = palette.paper;
    context.fillRect(boxLeft - 2, top, boxWidth + 4, height);
    context.globalAlpha = 1;
    write(drawing, at, spot);
    context.font = `12px ${font}`;
    return [boxLeft, top, boxWidth, height];
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
    const inSight: number[] = [];
    for (const at of order) if (isDrawn(at) && isInSight(drawing, ...placeOf(drawing, at))) inSight.push(at);
    // For texts alone, and for texts and domains.
    const [texts, room] = [0, 1].map(() => createRoom(camera.width, camera.height));
    for (const one of [texts, room]) furnish(one, drawing);
    furnishDomains(room, drawing, inSight);
    for (const at of first) {
      const box = writeOver(drawing, room, at);
      if (box !== null) texts.take(...box);
    }
    let placed = first.length;
    for (const at of inSight.slice(0, MOST_TRIES)) {
      if (placed >= MOST) break;
      if (first.includes(at)) continue;
      const width = widthOf(context, at);
      const spots = spotsOf(drawing, at, width);
      // Domains in the centre and large ones are named even if the name covers small dots.
      const isGreat = isQuality(at) || data.radius[at] * camera.sight.scale >= LARGE_PX;
      const spot =
        spots.find((one) => room.isFree(...boxAt(one, width))) ??
        (isGreat ? spots.find((one) => texts.isFree(...boxAt(one, width))) : undefined);
      if (spot === undefined) continue;
      for (const one of [texts, room]) one.take(...boxAt(spot, width));
      placed++;
      write(drawing, at, spot);
    }
  };
}

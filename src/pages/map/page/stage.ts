/**
 * The map itself: draws a frame only if something changed, and turns pointer, wheel and keys into moves of the camera
 * and selections of domains. Links are drawn again when the camera rests; see link-layer.ts.
 */
import { type Camera, createCamera } from './camera.ts';
import { createDomainLayer } from './domain-layer.ts';
import { drawDomains, drawSelectedLinks, toLooks } from './draw-domains.ts';
import { createLabels } from './draw-labels.ts';
import { drawRingNames, drawRings, placeRingNames } from './draw-rings.ts';
import { byId } from './element.ts';
import { createHitGrid } from './hit-grid.ts';
import { createLinkLayer } from './link-layer.ts';
import { onPaletteChange, readPalette } from './palette.ts';
import { listenToPointers } from './pointers.ts';
import type { Terrain } from './terrain.ts';
import { createTooltip } from './tooltip.ts';
import type { View } from './view.ts';

/** So long after the last move, links are drawn again. */
const REST_MS = 90;
const REACH_PX = 6;
const READABLE = 1.1;

export function openStage(terrain: Terrain, view: View): { show(at: number): void } {
  const { data } = terrain;
  const field = byId('map');
  const canvas = field.querySelector('canvas')!;
  field.tabIndex = 0;
  const marker = byId('marker');
  const context = canvas.getContext('2d', { alpha: false })!;
  const camera = createCamera(terrain.extent, () => moved());
  const layer = createLinkLayer(terrain, view);
  const looks = toLooks(terrain);
  const domains = createDomainLayer(terrain, view, camera, looks);
  const drawLabels = createLabels(terrain);
  const domainAt = createHitGrid(data);
  const tooltip = createTooltip(terrain, camera);
  let palette = readPalette();
  let ratio = 1;
  let isDue = false;
  let isStale = true;
  let movedAt = -Infinity;
  let near: Set<number> | undefined;
  let covered: DOMRect[] = [];

  function moved(): void {
    movedAt = performance.now();
    isStale = true;
    draw();
  }

  function draw(): void {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(frame);
  }

  function frame(now: number): void {
    isDue = false;
    if (isStale && now - movedAt >= REST_MS) {
      isStale = false;
      if (!layer.suits(camera.sight, camera.width, camera.height)) {
        layer.begin(camera.sight, camera.width, camera.height, ratio, palette);
      }
    }
    const isDrawing = layer.work();
    paint(isStale);
    if (isDrawing || isStale) draw();
  }

  function paint(isMoving: boolean): void {
    const { width, height } = camera;
    const isDrawn = (at: number) => view.visible[at] === 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, width, height);
    drawRings(context, terrain, camera, palette);
    context.globalAlpha = near === undefined ? 1 : 0.35;
    layer.paint(context, camera.sight, width, height);
    context.globalAlpha = near === undefined ? 1 : 0.22;
    domains.paint(context, ratio, palette, isMoving);
    context.globalAlpha = 1;
    if (near !== undefined) {
      const close = near;
      const drawing = { context, terrain, palette, isDrawn: (at: number) => isDrawn(at) && close.has(at) };
      drawSelectedLinks(drawing, camera, view.selected);
      drawDomains(looks, { ...drawing, frame: camera });
    }
    const first = [view.selected, view.hovered].filter((at) => at >= 0);
    const isNamed = (at: number) => isDrawn(at) && (near === undefined || near.has(at));
    const ringNames = placeRingNames(context, terrain, camera, palette);
    drawRingNames(context, ringNames, palette);
    drawLabels({
      context,
      camera,
      palette,
      ringNames,
      covered,
      first: [...new Set(first)],
      isDrawn: isNamed,
    });
    mark();
  }

  /** A ring around the selected domain that is an element, so that assistive technology can find it. */
  function mark(): void {
    const at = view.selected;
    marker.hidden = at < 0;
    if (at < 0) return;
    const [x, y] = camera.toScreen(data.x[at], data.y[at]);
    const r = Math.max(data.radius[at] * camera.sight.scale, 1) + 6;
    marker.style.left = `${x - r}px`;
    marker.style.top = `${y - r}px`;
    marker.style.width = `${2 * r}px`;
    marker.style.height = `${2 * r}px`;
  }

  function resize(): void {
    const { x: left, y: top, width, height } = canvas.getBoundingClientRect();
    covered = [...document.querySelectorAll('.float')].map((over) => {
      const box = over.getBoundingClientRect();
      return new DOMRect(box.x - left, box.y - top, box.width, box.height);
    });
    ratio = Math.min(window.devicePixelRatio || 1, 2);
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    camera.resize(Math.max(1, width), Math.max(1, height));
    movedAt = -Infinity;
    // A canvas that changed its size is empty, and the reader should not see that.
    domains.reset();
    paint(false);
  }

  function recolour(): void {
    palette = readPalette();
    layer.reset();
    domains.reset();
    isStale = true;
    draw();
  }

  const over = (x: number, y: number) => {
    const [mapX, mapY] = camera.toMap(x, y);
    return domainAt(mapX, mapY, REACH_PX / camera.sight.scale, view.visible);
  };

  listenToPointers(canvas, camera, {
    hover(x, y) {
      view.hover(over(x, y));
      tooltip.show(view.hovered, x, y);
      canvas.classList.toggle('is-over', view.hovered >= 0);
    },
    leave() {
      view.hover(-1);
      tooltip.hide();
    },
    choose: (x, y) => view.select(over(x, y)),
  });
  listenToKeys(field, camera, () => view.select(-1));
  view.onChange((change) => {
    if (change === 'filters') {
      layer.reset();
      domains.reset();
      isStale = true;
      movedAt = -Infinity;
    }
    if (change !== 'hover') near = neighbourhood(terrain, view.selected);
    draw();
  });
  onPaletteChange(recolour);
  new ResizeObserver(resize).observe(canvas);
  resize();

  /** Does not move the map if the domain can be seen well already. */
  function show(at: number): void {
    const [x, y] = camera.toScreen(data.x[at], data.y[at]);
    const scale = Math.min(READABLE, 60 / data.radius[at]);
    const isWithin = (value: number, size: number) => value > size * 0.1 && value < size * 0.9;
    const isSeen = isWithin(x, camera.width) && isWithin(y, camera.height);
    if (!isSeen || camera.sight.scale < scale * 0.7) camera.glideTo(data.x[at], data.y[at], scale);
  }

  return { show };
}

function neighbourhood({ data, outgoing, incoming }: Terrain, at: number): Set<number> | undefined {
  if (at < 0) return undefined;
  const near = new Set([at]);
  for (const link of outgoing(at)) near.add(data.to[link]);
  for (const link of incoming(at)) near.add(data.from[link]);
  return near;
}

function listenToKeys(field: HTMLElement, camera: Camera, onEscape: () => void): void {
  const zoom = (factor: number) => camera.zoomAt(camera.width / 2, camera.height / 2, factor);
  const actions: Record<string, () => void> = {
    ArrowLeft: () => camera.pan(60, 0),
    ArrowRight: () => camera.pan(-60, 0),
    ArrowUp: () => camera.pan(0, 60),
    ArrowDown: () => camera.pan(0, -60),
    '+': () => zoom(1.3),
    '=': () => zoom(1.3),
    '-': () => zoom(1 / 1.3),
    '0': () => camera.showAll(),
    Escape: onEscape,
  };
  field.addEventListener('keydown', (event) => {
    const action = actions[event.key];
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  byId('zoom-in').addEventListener('click', () => zoom(1.5));
  byId('zoom-out').addEventListener('click', () => zoom(1 / 1.5));
  byId('zoom-all').addEventListener('click', () => camera.showAll());
}

/** Which part of the map is visible, and how large. Moves at once, or slowly unless the reader prefers no motion. */
export interface Sight {
  x: number;
  y: number;
  /** Pixels for one unit of the map. */
  scale: number;
}

export interface Camera {
  readonly sight: Readonly<Sight>;
  readonly width: number;
  readonly height: number;
  resize(width: number, height: number): void;
  toScreen(x: number, y: number): [number, number];
  toMap(x: number, y: number): [number, number];
  pan(dx: number, dy: number): void;
  zoomAt(x: number, y: number, factor: number): void;
  showAll(): void;
  /** Moves a place of the map into view, at least so large. */
  glideTo(x: number, y: number, scale: number): void;
}

const GLIDE_MS = 260;

export function createCamera(extent: number, onMove: () => void): Camera {
  const stillness = matchMedia('(prefers-reduced-motion: reduce)');
  let sight: Sight = { x: 0, y: 0, scale: 1 };
  let [width, height] = [1, 1];
  let isWhole = true;
  let gliding = 0;

  const whole = (): Sight => ({ x: 0, y: 0, scale: Math.min(width, height) / (2 * extent * 1.04) });
  const clampScale = (scale: number) => Math.min(Math.max(scale, whole().scale / 2), 10);

  function move(next: Sight): void {
    const far = extent * 1.2;
    const within = (value: number) => Math.min(Math.max(value, -far), far);
    sight = { x: within(next.x), y: within(next.y), scale: clampScale(next.scale) };
    onMove();
  }

  function jump(next: Sight): void {
    cancelAnimationFrame(gliding);
    isWhole = false;
    move(next);
  }

  function glide(target: Sight): void {
    cancelAnimationFrame(gliding);
    if (stillness.matches) {
      move(target);
      return;
    }
    const from = sight;
    const startedAt = performance.now();
    const step = (now: number) => {
      const part = Math.min(1, Math.max(0, (now - startedAt) / GLIDE_MS));
      const eased = part * part * (3 - 2 * part);
      const between = (a: number, b: number) => a + (b - a) * eased;
      const scale = from.scale * (target.scale / from.scale) ** eased;
      move({ x: between(from.x, target.x), y: between(from.y, target.y), scale });
      if (part < 1) gliding = requestAnimationFrame(step);
    };
    gliding = requestAnimationFrame(step);
  }

  const toMap = (x: number, y: number): [number, number] => [
    (x - width / 2) / sight.scale + sight.x,
    (y - height / 2) / sight.scale + sight.y,
  ];

  return {
    get sight() {
      return sight;
    },
    get width() {
      return width;
    },
    get height() {
      return height;
    },
    resize(nextWidth, nextHeight) {
      [width, height] = [nextWidth, nextHeight];
      move(isWhole ? whole() : sight);
    },
    toScreen: (x, y) => [(x - sight.x) * sight.scale + width / 2, (y - sight.y) * sight.scale + height / 2],
    toMap,
    pan(dx, dy) {
      jump({ x: sight.x - dx / sight.scale, y: sight.y - dy / sight.scale, scale: sight.scale });
    },
    zoomAt(x, y, factor) {
      const scale = clampScale(sight.scale * factor);
      const [mapX, mapY] = toMap(x, y);
      // The point under the pointer stays under it.
      jump({ x: mapX - (x - width / 2) / scale, y: mapY - (y - height / 2) / scale, scale });
    },
    showAll() {
      isWhole = true;
      glide(whole());
    },
    glideTo(x, y, scale) {
      isWhole = false;
      glide({ x, y, scale: Math.max(sight.scale, scale) });
    },
  };
}

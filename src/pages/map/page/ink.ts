/**
 * Ink on a sheet, added up per pixel: a line leaves a little on every pixel that it touches; where many cross it is
 * darker, but never black. The browser's own lines would be drawn later, all at once, in one long pause. These are
 * finished when the call returns, so a slice of them fits into a frame.
 */
export interface Ink {
  readonly width: number;
  readonly height: number;
  /** An empty sheet of this size. */
  reset(width: number, height: number): void;
  line(x1: number, y1: number, x2: number, y2: number, amount: number): void;
  /** The sheet as pixels of one colour; with much ink, nearly `darkest`. */
  toImage(colour: readonly number[], darkest: number): ImageData;
}

const SHADES = 2048;
/** Ink beyond this changes nothing any more. */
const FULL = 6;

export function createInk(): Ink {
  let [width, height] = [0, 0];
  let sheet = new Float32Array(0);

  function reset(nextWidth: number, nextHeight: number): void {
    [width, height] = [nextWidth, nextHeight];
    if (sheet.length === width * height) sheet.fill(0);
    else sheet = new Float32Array(width * height);
  }

  /** One step per pixel along the longer side, shared by the two pixels beside the line. */
  function line(x1: number, y1: number, x2: number, y2: number, amount: number): void {
    const steep = Math.abs(y2 - y1) > Math.abs(x2 - x1);
    const [a1, b1, a2, b2] = steep ? [y1, x1, y2, x2] : [x1, y1, x2, y2];
    const [along, across] = steep ? [height, width] : [width, height];
    const [stepAlong, stepAcross] = steep ? [width, 1] : [1, width];
    if (Math.max(b1, b2) < 0 || Math.min(b1, b2) >= across - 1) return;
    const slope = a1 === a2 ? 0 : (b2 - b1) / (a2 - a1);
    const first = Math.max(0, Math.ceil(Math.min(a1, a2)));
    const last = Math.min(along - 1, Math.ceil(Math.max(a1, a2)) - 1);
    let b = b1 + (first - a1) * slope;
    for (let a = first; a <= last; a++, b += slope) {
      if (b < 0 || b >= across - 1) continue;
      const whole = b | 0;
      const share = (b - whole) * amount;
      const at = a * stepAlong + whole * stepAcross;
      sheet[at] += amount - share;
      sheet[at + stepAcross] += share;
    }
  }

  function toImage([red, green, blue]: readonly number[], darkest: number): ImageData {
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const shades = new Uint32Array(SHADES + 1);
    const shade = new Uint8ClampedArray(4);
    for (let i = 0; i <= SHADES; i++) {
      shade.set([red, green, blue, 255 * darkest * (1 - Math.exp((-i * FULL) / SHADES))]);
      shades[i] = new Uint32Array(shade.buffer)[0];
    }
    const scale = SHADES / FULL;
    for (let at = 0; at < sheet.length; at++) {
      if (sheet[at] > 0) pixels[at] = shades[Math.min(SHADES, (sheet[at] * scale) | 0)];
    }
    return image;
  }

  return {
    get width() {
      return width;
    },
    get height() {
      return height;
    },
    reset,
    line,
    toImage,
  };
}

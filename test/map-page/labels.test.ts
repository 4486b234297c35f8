/** The names beside the dots of the map, as the browser draws them: which are there, and what they cover. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type OpenMap, openMap, startBrowser } from './open-map.ts';
import { randomTerrain } from './random-terrain.ts';

const wish = { seed: 11, quality: 5, stub: 8, blacklist: 7, discovered: 30, links: 400, maxDepth: 3 };
const few = randomTerrain(wish);
const many = randomTerrain({ ...wish, discovered: 600, links: 4000 });

let browser: Browser;
let map: OpenMap | undefined;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
});
afterEach(async () => {
  await map?.close();
  map = undefined;
});

interface Drawn {
  text: string;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Notes what is written on the canvas; a new frame begins with the paper over all of it. */
const LISTEN = `
  const { fillText, fillRect } = CanvasRenderingContext2D.prototype;
  window.written = [];
  CanvasRenderingContext2D.prototype.fillRect = function (x, y, width, height) {
    if (x === 0 && y === 0 && width === this.canvas.clientWidth) window.written = [];
    fillRect.call(this, x, y, width, height);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const { width } = this.measureText(text);
    window.written.push({ text, left: x - width / 2, right: x + width / 2, top: y - 6, bottom: y + 6 });
    fillText.call(this, text, x, y);
  };`;

async function open(terrain: typeof few): Promise<OpenMap> {
  map = await openMap(browser, terrain);
  await map.page.evaluate(LISTEN);
  return map;
}

async function written({ page, drawn }: OpenMap, terrain: typeof few): Promise<Drawn[]> {
  await drawn();
  const all = (await page.evaluate('window.written')) as Drawn[];
  const names = new Set(terrain.domains.map(({ name }) => name));
  return all.filter(({ text }) => names.has(text));
}

const overlap = (a: Drawn, b: Drawn) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

function coveredPairs(names: readonly Drawn[]): string[] {
  return names.flatMap((one, at) =>
    names
      .slice(at + 1)
      .filter((other) => overlap(one, other))
      .map((other) => `${one.text} ${other.text}`),
  );
}

describe('the names on the map', () => {
  it('are those of nearly all dots where there is room, and none covers another', async () => {
    const opened = await open(few);
    await opened.page.hover('#zoom-in');
    await opened.page.focus('#map');
    await opened.page.keyboard.press('ArrowLeft');
    await opened.page.keyboard.press('ArrowRight');
    const names = await written(opened, few);
    expect(names.length).toBeGreaterThan(40);
    expect(coveredPairs(names)).toEqual([]);
    for (const name of few.origins) expect(names.map(({ text }) => text)).toContain(name);
  });

  it('are others, too, when one looks nearer', async () => {
    const opened = await open(many);
    await opened.page.focus('#map');
    await opened.page.keyboard.press('+');
    const before = await written(opened, many);
    for (let times = 0; times < 5; times++) await opened.page.keyboard.press('+');
    const after = await written(opened, many);
    expect(coveredPairs(before)).toEqual([]);
    expect(coveredPairs(after)).toEqual([]);
    // A smaller part is in sight: of what is there, more is named.
    const isNew = after.filter(({ text }) => !before.some((one) => one.text === text));
    expect(isNew.length).toBeGreaterThan(10);
  });

  it('have that of the selected one, however small it is and whatever stands there', async () => {
    const smallest = many.domains
      .filter(({ class: kind, pages }) => kind === 'discovered' && pages === 1)
      .map(({ name }) => name)
      .slice(0, 12);
    const opened = await open(many);
    for (const name of smallest) {
      await opened.page.fill('#query', name);
      await opened.page.press('#query', 'Enter');
      const names = await written(opened, many);
      expect(names.map(({ text }) => text)).toContain(name);
      const { width, height } = (await opened.page.locator('#map').boundingBox())!;
      const own = names.find(({ text }) => text === name)!;
      expect([own.left >= 0, own.right <= width, own.top >= 0, own.bottom <= height]).toEqual(
        Array(4).fill(true),
      );
    }
  });
});

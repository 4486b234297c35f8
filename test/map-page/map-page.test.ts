/** The map page as a reader meets it: opened from disk in a real browser, by mouse and by keyboard. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TerrainMap } from '../../src/pages/map/terrain-map.ts';
import { type OpenMap, openMap, startBrowser } from './open-map.ts';
import { randomTerrain } from './random-terrain.ts';

const usual = randomTerrain({
  seed: 11,
  quality: 5,
  stub: 20,
  blacklist: 20,
  discovered: 255,
  links: 2_400,
  maxDepth: 3,
});

let browser: Browser;
let map: OpenMap | undefined;

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
});
afterEach(async () => {
  const asked = map?.requests;
  const complaints = map?.complaints;
  await map?.close();
  map = undefined;
  // True of every page whatever was done with it.
  expect(asked ?? []).toEqual([]);
  expect(complaints ?? []).toEqual([]);
});

async function open(terrain: TerrainMap, scheme?: 'light' | 'dark'): Promise<OpenMap> {
  map = await openMap(browser, terrain, scheme);
  return map;
}

const countOf = (terrain: TerrainMap, isCounted: (one: TerrainMap['domains'][number]) => boolean) =>
  terrain.domains.filter(isCounted).length;
const table = '[role="grid"]';
const heading = '#details h2';

async function rowsOf({ page }: OpenMap): Promise<number> {
  return Number(await page.getAttribute(table, 'aria-rowcount')) - 1;
}

async function choose({ page, drawn }: OpenMap, name: string): Promise<void> {
  await page.fill('#query', name);
  await page.press('#query', 'Enter');
  await drawn();
}

describe('the map page', () => {
  it('shows every domain and link of the terrain, and a table beside it', async () => {
    const { page } = await open(usual);
    expect(await page.title()).toBe('Terrain of chance');
    expect(await page.textContent('#counts')).toBe('300 of 300 domains, 2,400 of 2,400 links');
    expect(await page.textContent('#about')).toBe('project chance · run 7 · drawn 2025-03-01 12:34 UTC');
    expect(await rowsOf(map!)).toBe(300);
    expect(await page.locator('#classes label').allInnerTexts()).toEqual([
      'quality\n5',
      'discovered\n255',
      'stub\n20',
      'blacklist\n20',
    ]);
    // Only what is in sight is in the document.
    expect(await page.locator(`${table} .rows [role="row"]`).count()).toBeLessThan(60);
  });

  it('draws domains, and not the same in the light and in the dark', async () => {
    const look = async (scheme: 'light' | 'dark') => {
      const { page, drawn } = await open(usual, scheme);
      await drawn();
      const colours = await page.evaluate(`(() => {
        const canvas = document.querySelector('canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const seen = new Map();
        for (let i = 0; i < data.length; i += 4) {
          const colour = [data[i], data[i + 1], data[i + 2]].join(',');
          seen.set(colour, (seen.get(colour) ?? 0) + 1);
        }
        return [...seen].filter(([, count]) => count > 200).map(([colour]) => colour);
      })()`);
      await map!.close();
      map = undefined;
      return colours as string[];
    };
    const [light, dark] = [await look('light'), await look('dark')];
    // Quality and stub as map.css has them, day and night.
    expect(light).toEqual(expect.arrayContaining(['191,58,38', '39,96,143']));
    expect(dark).toEqual(expect.arrayContaining(['238,106,80', '111,168,216']));
  });

  it('selects the domain that is clicked, and shows its facts, links and pages', async () => {
    const { page, drawn } = await open(usual);
    const wanted = usual.domains.findIndex((one) => one.class === 'discovered' && one.outdegree > 3);
    const one = usual.domains[wanted];
    await choose(map!, one.name);
    const ring = (await page.locator('#marker').boundingBox())!;
    await page.click('#details .close');
    await drawn();
    expect(await page.isHidden('#details')).toBe(true);
    expect(await page.isHidden('#marker')).toBe(true);

    await page.mouse.click(ring.x + ring.width / 2, ring.y + ring.height / 2);
    expect(await page.textContent(heading)).toBe(one.name);
    const facts = (await page.locator('#details dd').allInnerTexts()).slice(0, 4);
    expect(facts).toEqual([one.pages, one.processed, one.errors, one.depth].map(String));
    const outgoing = usual.links
      .filter(({ from }) => from === wanted)
      .map(({ to }) => usual.domains[to].name);
    expect((await page.locator('#details .outgoing button').allInnerTexts()).sort()).toEqual(outgoing.sort());
    const incoming = usual.links
      .filter(({ to }) => to === wanted)
      .map(({ from }) => usual.domains[from].name);
    expect((await page.locator('#details .incoming button').allInnerTexts()).sort()).toEqual(incoming.sort());
    const links = await page.evaluate(
      `[...document.querySelectorAll('#details a')].map((a) => [a.href, a.rel, a.textContent])`,
    );
    expect(links).toEqual(one.topPages.map(({ url, title }) => [url, 'noopener noreferrer', title]));
    const selected = page.locator(`${table} [role="row"][aria-selected="true"]`);
    expect(await selected.locator('.name').textContent()).toBe(one.name);

    await page.locator('#details .outgoing button').first().click();
    expect(outgoing).toContain(await page.textContent(heading));
  });

  it('tells the facts of the domain under the pointer', async () => {
    const { page, drawn } = await open(usual);
    const one = usual.domains[2];
    await choose(map!, one.name);
    const ring = (await page.locator('#marker').boundingBox())!;
    await page.mouse.move(ring.x + ring.width / 2, ring.y + ring.height / 2);
    await drawn();
    const told = await page.textContent('[role="tooltip"]');
    expect(told).toContain(one.name);
    expect(told).toContain('quality, depth 0');
    expect(told).toContain(`${new Intl.NumberFormat('en').format(one.pages)} known URLs`);
    await page.mouse.move(5, 5);
    expect(await page.isHidden('[role="tooltip"]')).toBe(true);
  });

  it('finds domains by name and by title, with the keyboard alone', async () => {
    const { page } = await open(usual);
    await page.keyboard.press('/');
    await page.keyboard.type('moss');
    const found = page.locator('[role="listbox"] [role="option"]');
    expect(await page.getAttribute('#query', 'aria-expanded')).toBe('true');
    const names = await found.locator('.name').allInnerTexts();
    expect(names.length).toBe(8);
    for (const name of names) expect(name.startsWith('moss')).toBe(true);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await page.textContent(heading)).toBe(names[1]);

    const named = usual.domains.find((one) => one.topPages.length > 2)!;
    await page.fill('#query', `chapter 2 of ${named.name}`);
    expect(await found.locator('.title').allInnerTexts()).toEqual([`Chapter 2 of ${named.name}`]);
    await page.fill('#query', 'no such thing');
    expect(await found.allInnerTexts()).toEqual(['Nothing found']);
  });

  it('filters by class, by depth from any origin or from one, and to what is linked with the selection', async () => {
    const { page } = await open(usual);
    await page.uncheck('input[name="discovered"]');
    expect(await rowsOf(map!)).toBe(45);
    await page.uncheck('input[name="blacklist"]');
    expect(await rowsOf(map!)).toBe(25);
    await page.check('input[name="discovered"]');
    await page.check('input[name="blacklist"]');
    expect(await rowsOf(map!)).toBe(300);

    await page.fill('#depth', '1');
    const upTo1 = countOf(usual, ({ depth }) => depth! <= 1);
    expect(await page.textContent('#depth-shown')).toBe('up to 1');
    expect(await rowsOf(map!)).toBe(upTo1);
    expect(await page.textContent('#counts')).toContain(`${upTo1} of 300 domains`);
    const origin = usual.origins[3];
    await page.selectOption('#origin', { label: origin });
    const near = countOf(usual, ({ depths }) => depths.some((d) => d.origin === origin && d.depth <= 1));
    expect(near).not.toBe(upTo1);
    expect(await rowsOf(map!)).toBe(near);
    await page.selectOption('#origin', { label: 'the nearest origin' });
    await page.fill('#depth', '3');

    expect(await page.isDisabled('#only-linked')).toBe(true);
    await choose(map!, usual.domains[0].name);
    await page.check('#only-linked');
    const linked = new Set(
      usual.links.filter(({ from, to }) => from === 0 || to === 0).flatMap(({ from, to }) => [from, to]),
    );
    expect(await rowsOf(map!)).toBe(linked.size);
    await page.click('#details .close');
    expect(await page.isChecked('#only-linked')).toBe(false);
    expect(await rowsOf(map!)).toBe(300);
  });

  it('does not take a click for a domain that is filtered away', async () => {
    const { page, drawn } = await open(usual);
    const one = usual.domains.find((other) => other.class === 'stub')!;
    await choose(map!, one.name);
    const ring = (await page.locator('#marker').boundingBox())!;
    await page.uncheck('input[name="stub"]');
    await drawn();
    expect(await page.isHidden('#details')).toBe(true);
    await page.mouse.click(ring.x + ring.width / 2, ring.y + ring.height / 2);
    expect(await page.isHidden('#details')).toBe(true);
    // Searching for it brings it back.
    await choose(map!, one.name);
    expect(await page.isChecked('input[name="stub"]')).toBe(true);
    expect(await page.textContent(heading)).toBe(one.name);
  });

  it('sorts the table, and goes through it with the keyboard', async () => {
    const { page, drawn } = await open(usual);
    const first = page.locator(`${table} [role="row"][aria-rowindex="2"] .name`);
    const most = usual.domains.reduce((a, b) => (b.pages > a.pages ? b : a));
    expect(await first.textContent()).toBe(most.name);
    await page.click(`${table} button:text-is("Domain")`);
    expect(await page.getAttribute(`${table} [role="columnheader"]:has-text("Domain")`, 'aria-sort')).toBe(
      'ascending',
    );
    const names = usual.domains.map(({ name }) => name).sort();
    expect(await first.textContent()).toBe(names[0]);
    await page.focus(table);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await drawn();
    expect(await page.textContent(heading)).toBe(names[298]);
    expect(await page.getAttribute(table, 'aria-activedescendant')).toBe('row-298');
    expect(await page.isVisible('#marker')).toBe(true);
  });

  it('zooms and moves by wheel, buttons, drag and keys', async () => {
    const { page, drawn } = await open(usual);
    await choose(map!, usual.domains[1].name);
    const marker = async () => {
      await drawn();
      return (await page.locator('#marker').boundingBox())!;
    };
    const start = await marker();
    await page.click('#zoom-in');
    const larger = await marker();
    expect(larger.width).toBeGreaterThan(start.width);
    await page.mouse.move(300, 600);
    await page.mouse.wheel(0, 200);
    const smaller = await marker();
    expect(smaller.width).toBeLessThan(larger.width);
    await page.mouse.down();
    await page.mouse.move(340, 630, { steps: 4 });
    await page.mouse.up();
    const dragged = await marker();
    expect(dragged.x - smaller.x).toBeCloseTo(40, 0);
    expect(dragged.y - smaller.y).toBeCloseTo(30, 0);
    // A drag is not a click: the selection is still there.
    expect(await page.textContent(heading)).toBe(usual.domains[1].name);
    await page.focus('#map');
    await page.keyboard.press('ArrowLeft');
    expect((await marker()).x - dragged.x).toBeCloseTo(60, 0);
    await page.keyboard.press('Escape');
    await drawn();
    expect(await page.isHidden('#marker')).toBe(true);
  });

  it('takes hostile names, titles and addresses for text', async () => {
    const evil = '</script><img src=x onerror=alert(1)><script>alert(2)</script>';
    const one = {
      ...usual.domains[0],
      name: evil,
      topPages: [
        { url: 'javascript:alert(3)', title: evil, status: 200 },
        { url: 'https://a.example/"onclick="alert(4)', title: '<b>bold</b>', status: 200 },
      ],
    };
    const terrain = { ...usual, title: evil, project: evil, origins: [evil, ...usual.origins.slice(1)] };
    const { page, drawn } = await open({ ...terrain, domains: [one, ...usual.domains.slice(1)] });
    expect(await page.title()).toBe(evil);
    expect(await page.textContent('h1')).toBe(evil);
    await choose(map!, 'onerror');
    expect(await page.textContent(heading)).toBe(evil);
    const ring = (await page.locator('#marker').boundingBox())!;
    await page.mouse.move(ring.x + ring.width / 2, ring.y + ring.height / 2);
    await drawn();
    expect(await page.textContent('[role="tooltip"] strong')).toBe(evil);
    expect(
      await page.evaluate(`[...document.querySelectorAll('#details a')].map((a) => a.getAttribute('href'))`),
    ).toEqual(['https://a.example/"onclick="alert(4)']);
    expect(await page.locator('img, b, script').count()).toBe(2);
  });

  it('shows 5,000 domains and 60,000 links, and says what was left out of more', async () => {
    const large = randomTerrain({
      seed: 12,
      quality: 12,
      stub: 250,
      blacklist: 150,
      discovered: 4_588,
      links: 60_400,
      maxDepth: 4,
    });
    const { page, drawn } = await open(large);
    expect(await page.textContent('#counts')).toBe('5,000 of 5,000 domains, 60,000 of 60,000 links');
    expect(await page.textContent('#about')).toContain('the heaviest 60,000 of 60,400 links');
    expect(await rowsOf(map!)).toBe(5_000);
    expect(await page.locator(`${table} .rows [role="row"]`).count()).toBeLessThan(60);
    await page.selectOption('#links', 'all');
    await drawn();
    await choose(map!, large.domains[4_321].name);
    const ring = (await page.locator('#marker').boundingBox())!;
    await page.click('#details .close');
    await page.mouse.click(ring.x + ring.width / 2, ring.y + ring.height / 2);
    expect(await page.textContent(heading)).toBe(large.domains[4_321].name);
  });

  it('of an empty terrain is an empty map', async () => {
    const { page } = await open({ ...usual, origins: [], domains: [], links: [] });
    expect(await page.textContent('#counts')).toBe('0 of 0 domains, 0 of 0 links');
    expect(await page.textContent(`${table} .none`)).toBe('No domain passes these filters.');
  });
});

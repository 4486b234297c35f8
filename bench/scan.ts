/**
 * How fast pages are parsed, warm: `npx tsx bench/scan.ts DIR` reads the .html files of a folder into memory and parses
 * them again and again. Prints MB/s by processor time for the scanner alone and for the whole parse, and beside them a
 * plain UTF-8 decode of the same bytes, by which runs on a busy machine can be compared.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPageParser } from '../src/parse/parse-page.ts';
import { createHtmlScanner } from '../src/parse/scan-html.ts';

const ROUNDS = 8;
const MOST_BYTES = 200_000_000;

function loadPages(folder: string): Uint8Array[] {
  const pages: Uint8Array[] = [];
  let total = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.html') || total > MOST_BYTES) continue;
    const body = readFileSync(join(folder, name));
    // One byte more: the 0 that the scanner stops at.
    const bytes = new Uint8Array(body.length + 1);
    bytes.set(body);
    pages.push(bytes);
    total += body.length;
  }
  return pages;
}

function measure(pages: Uint8Array[], work: (bytes: Uint8Array) => void): string {
  const megabytes = pages.reduce((sum, bytes) => sum + bytes.length - 1, 0) / 1e6;
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    for (const bytes of pages) work(bytes);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, user + system);
  }
  const rate = (megabytes / (best / 1e6)).toFixed(0).padStart(6);
  return `${rate} MB/s ${(best / pages.length).toFixed(1).padStart(8)} µs a page`;
}

const folder = process.argv[2];
if (folder === undefined) {
  console.error('usage: npx tsx bench/scan.ts DIR');
  process.exitCode = 2;
} else {
  const pages = loadPages(folder);
  const scanner = createHtmlScanner();
  const parse = createPageParser();
  const decoder = new TextDecoder();
  const scanOne = (bytes: Uint8Array): void => {
    scanner.scan(bytes, bytes.length - 1, 'main');
  };
  const parseOne = (bytes: Uint8Array): void => {
    const length = bytes.length - 1;
    parse({ bytes, length, contentType: 'text/html', xRobotsTag: null, agentToken: 'sumi-ripple' });
  };
  console.log(`${pages.length} pages, best of ${ROUNDS} rounds`);
  console.log(`scan        ${measure(pages, scanOne)}`);
  console.log(`parse       ${measure(pages, parseOne)}`);
  console.log(`utf-8 alone ${measure(pages, (bytes) => void decoder.decode(bytes))}`);
}

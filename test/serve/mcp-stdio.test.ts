/** `sumi mcp` as a process: standard output carries the protocol alone, and it ends in good order, whatever happens. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import Sqlite from '../../src/store/sqlite/driver.ts';
import { page, useBench } from '../crawls/crawl-site.ts';
import { answer } from '../web/fake-web.ts';
import { type Loose, SUMI } from './agent-clients.ts';
import { useService } from './start-serving.ts';

const bench = useBench();
const service = useService();
const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

interface Process {
  child: ChildProcess;
  /** Everything that came on standard output, line by line. */
  lines: string[];
  errors: () => string;
  say(message: object): void;
  /** The answer to the request with this id. */
  answer(id: number): Promise<Loose>;
  ended: Promise<{ code: number | null; signal: string | null }>;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sumi-mcp-'));
  ends.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function start(...flags: string[]): Process {
  const child = spawn(process.execPath, [...SUMI, 'mcp', ...flags], { stdio: 'pipe' });
  ends.push(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  let errors = '';
  child.stderr.on('data', (piece) => {
    errors += piece;
  });
  const reader = createInterface(child.stdout);
  reader.on('line', (line) => lines.push(line));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  return {
    ...{ child, lines, ended, errors: () => errors },
    say: (message) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    async answer(id) {
      const find = () => lines.map((line) => JSON.parse(line)).find((message) => message.id === id);
      while (find() === undefined)
        await Promise.race([
          once(reader, 'line'),
          ended.then(() => Promise.reject(new Error(`it ended: ${errors}`))),
        ]);
      return find();
    },
  };
}

const INITIALIZE = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const QUICK = { delay_seconds: 0, adaptive_delay: false, discover: ['links'] };
const call = (id: number, name: string, args: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

describe('sumi mcp', () => {
  it('answers everything that was asked before the input ends, then exits with 0', async () => {
    const one = start('--db', join(folder(), 'sumi.db'));
    one.say(INITIALIZE);
    one.say({ method: 'notifications/initialized' });
    for (let id = 2; id < 20; id++) one.say(call(id, 'list_projects'));
    one.child.stdin?.end();
    expect(await one.ended).toEqual({ code: 0, signal: null });
    const ids = one.lines.map((line) => JSON.parse(line).id);
    expect(ids.sort((a, b) => a - b)).toEqual(Array.from({ length: 19 }, (_, at) => at + 1));
    expect(one.errors().replace(/^npm .*\n/gm, '')).toBe('');
  });

  it('exits with 0 when nothing was ever asked', async () => {
    const one = start('--db', join(folder(), 'sumi.db'));
    one.child.stdin?.end();
    expect(await one.ended).toEqual({ code: 0, signal: null });
    expect(one.lines).toEqual([]);
  });

  it.each(['input', 'SIGTERM', 'SIGINT'] as const)(
    'ends by %s in the middle of a crawl, which goes on at the next start',
    async (how) => {
      const file = join(folder(), 'sumi.db');
      // One page leads to the next, for longer than anybody waits; at the second start the way is short.
      let isLong = true;
      const web = await bench.web({
        pages: {
          '/*': (exchange) => {
            const nth = Number(exchange.path.slice(1));
            answer(exchange, { body: isLong ? page(`Page ${nth}`, `/${nth + 1}`) : page(`Page ${nth}`) });
          },
        },
      });
      const flags = ['--db', file, '--egress-allow', '127.0.0.0/8', '--max-pages-limit', '1000000'];
      const first = start(...flags);
      first.say(INITIALIZE);
      await first.answer(1);
      first.say(call(2, 'start_crawl', { url: `${web.origin}/1`, max_pages: 1_000_000, ...QUICK }));
      const { project_id } = (await first.answer(2)).result.structuredContent;
      await web.asked('/5');
      if (how === 'input') first.child.stdin?.end();
      else first.child.kill(how);
      expect(await first.ended).toEqual({ code: 0, signal: null });
      const db = new Sqlite(file, { readonly: true });
      expect(db.prepare('SELECT status FROM runs').all()).toEqual([{ status: 'interrupted' }]);
      db.close();

      isLong = false;
      const second = start(...flags);
      second.say(INITIALIZE);
      await second.answer(1);
      let id = 2;
      await expect
        .poll(
          async () => {
            second.say(call(++id, 'crawl_status', { project_id }));
            return (await second.answer(id)).result.structuredContent.phase;
          },
          { timeout: 20_000 },
        )
        .toMatchObject({ state: 'completed', run: 1, progress: 100 });
      second.say(call(++id, 'list_pages', { project_id, status: 'success' }));
      expect((await second.answer(id)).result.structuredContent.pages.length).toBeGreaterThan(4);
      second.child.stdin?.end();
      expect((await second.ended).code).toBe(0);
    },
  );

  it('says where the tools are when a service has the file open', async () => {
    const one = await service();
    const other = start('--db', one.address);
    expect((await other.ended).code).toBe(2);
    expect(other.lines).toEqual([]);
    expect(other.errors()).toContain('/mcp');
    expect(other.errors()).toContain('mcp-store-held');
  });

  it('takes lines that are no messages for what they are', async () => {
    const one = start('--db', join(folder(), 'sumi.db'));
    one.child.stdin?.write('no json\n{"jsonrpc":"2.0"}\n\n');
    one.say(INITIALIZE);
    expect((await one.answer(1)).result.serverInfo.name).toBe('sumi-ripple');
    one.say(call(2, 'no_such_tool'));
    expect((await one.answer(2)).error.message).toContain('no_such_tool');
    one.child.stdin?.end();
    expect((await one.ended).code).toBe(0);
    for (const line of one.lines) expect(JSON.parse(line).jsonrpc).toBe('2.0');
  });
});

// Runs the commands of docs/service.md one after another, as at one terminal: variables stay, files of the page are there,
// `sumi serve` goes on behind the others until the next one is started. Made-up hosts lead to the sites of docs-web.ts;
// ports of the page lead to free ones. A command that only asks is repeated while a crawl is not where the page has it.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DOCS_HOSTS, type DocsWeb, serveDocsWeb } from './docs-web.ts';
import { asLearned, type Learned, matchPrinted } from './match-printed.ts';
import { showJson } from './show-json.ts';

/** CLI_UNDER_TEST names another build to be tried. */
const COMMAND = resolve(process.env.CLI_UNDER_TEST ?? 'dist/sumi.cjs');
/** Of the service, and of a receiver of webhooks. */
const PORTS_OF_PAGE = ['7864', '9000'];
const PATIENCE_MS = 40_000;
const AGAIN_MS = 200;

/** What may be asked again until the answer is as on the page. */
const ASKS = /^(?:curl|cat)\b|\bcrawl_status\b/;
const CHANGES = / (?:-X|--json|-\w*N)\b/;

export interface ServiceSession {
  web: DocsWeb;
  writeFile(name: string, text: string): void;
  run(command: string, expected: string): Promise<Printed>;
  /** Ends the service by SIGTERM, and answers its exit code. */
  close(): Promise<number | null>;
}

export interface Printed {
  /** As the page shows it. */
  text: string;
  /** Whether it is what was expected. */
  isRight: boolean;
}

export async function startSession(): Promise<ServiceSession> {
  const web = await serveDocsWeb();
  const top = mkdtempSync(join(tmpdir(), 'sumi-service-docs-'));
  const folder = join(top, 'work');
  mkdirSync(folder);
  mkdirSync(join(top, 'bin'));
  writeFileSync(join(top, 'bin/sumi'), `#!/bin/sh\nexec '${process.execPath}' '${COMMAND}' "$@"\n`);
  chmodSync(join(top, 'bin/sumi'), 0o755);
  const ports = new Map<string, string>();
  for (const port of PORTS_OF_PAGE) ports.set(port, await freePort());
  const env: NodeJS.ProcessEnv = {
    PATH: `${join(top, 'bin')}:${process.env.PATH}`,
    HOME: top,
    SUMI_RESOLVE: DOCS_HOSTS.map((name) => `${name}=127.0.0.1:${web.port}`).join(','),
    SUMI_EGRESS_ALLOW: DOCS_HOSTS.join(','),
    // Node 20 knows WebSocket by this flag only.
    NODE_OPTIONS: process.versions.node.startsWith('20.') ? '--experimental-websocket --no-warnings' : '',
  };
  const learned: Learned = new Map();
  const assignments: string[] = [];
  const behind: ChildProcess[] = [];
  let serving: ChildProcess | null = null;

  /** As on the page, in the ports and names of this run. */
  function real(command: string): string {
    let text = command;
    // Not within an id.
    for (const [onPage, port] of ports)
      text = text.replaceAll(new RegExp(`(?<![\\w-])${onPage}(?![\\w-])`, 'g'), port);
    return asLearned(text, learned).replace(
      /--egress-allow (\S+)/,
      `--egress-allow $1,${DOCS_HOSTS.join(',')}`,
    );
  }

  function shown(text: string): string {
    let out = text.replaceAll('\r', '');
    for (const [onPage, port] of ports)
      out = out.replaceAll(new RegExp(`(?<=127\\.0\\.0\\.1:)${port}\\b`, 'g'), onPage);
    return showJson(out);
  }

  function start(command: string): ChildProcess {
    const script = [...assignments, command].join('\n');
    return spawn('bash', ['-c', script], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Waits until it has ended, or has printed what was expected, or for too long; then it is ended. */
  function readUntil(
    child: ChildProcess,
    expected: string,
    streams: ('stdout' | 'stderr')[],
  ): Promise<Printed> {
    return new Promise((done) => {
      let text = '';
      const isRight = () => matchPrinted(expected, shown(text), learned);
      const finish = (right: boolean) => {
        clearTimeout(late);
        done({ text: shown(text), isRight: right });
      };
      const late = setTimeout(() => finish(false), PATIENCE_MS);
      for (const name of streams)
        child[name]!.setEncoding('utf8').on('data', (piece) => {
          text += piece;
          if (child.exitCode === null && isEndless(child) && isRight()) finish(true);
        });
      child.once('close', () => finish(isRight()));
    });
  }

  const endless = new WeakSet<ChildProcess>();
  const isEndless = (child: ChildProcess) => endless.has(child);

  /** Its exit code. */
  async function end(child: ChildProcess | null): Promise<number | null> {
    if (child === null || child.exitCode !== null || child.signalCode !== null)
      return child?.exitCode ?? null;
    const closed = new Promise<void>((done) => child.once('close', () => done()));
    killGroup(child, 'SIGTERM');
    const late = setTimeout(() => killGroup(child, 'SIGKILL'), PATIENCE_MS);
    await closed;
    clearTimeout(late);
    return child.exitCode;
  }

  async function serve(command: string, expected: string): Promise<Printed> {
    await end(serving);
    const { 7864: port } = Object.fromEntries(ports);
    serving = start(`exec ${command} --port ${port}`);
    endless.add(serving);
    return await readUntil(serving, expected, ['stderr']);
  }

  async function runOnce(command: string, expected: string): Promise<Printed> {
    if (command.startsWith('sumi serve')) return await serve(command, expected);
    const isBehind = command.endsWith(' &');
    const child = start(isBehind ? command.replace(/ &$/, ' 2>/dev/null &') : `{ ${command}\n} 2>&1`);
    if (isBehind) behind.push(child);
    const isStream = /curl .*-\w*N\b/.test(command);
    if (isStream) endless.add(child);
    const printed = await readUntil(child, expected, ['stdout']);
    if (isStream) await end(child);
    if (isBehind) await untilAnybodyListens(Number(ports.get('9000')));
    return printed;
  }

  return {
    web,
    writeFile: (name, text) => writeFileSync(join(folder, name), real(text)),
    async run(command, expected) {
      const text = real(command);
      if (/^\w+(?:=\S+|\(\) \{.*\})$/.test(text)) {
        assignments.push(text);
        return { text: '', isRight: expected === '' };
      }
      const isAsking = ASKS.test(text) && !CHANGES.test(text);
      const until = Date.now() + PATIENCE_MS;
      for (;;) {
        const printed = await runOnce(text, expected);
        if (printed.isRight || !isAsking || Date.now() > until) return printed;
        await new Promise((done) => setTimeout(done, AGAIN_MS));
      }
    },
    async close() {
      const code = await end(serving);
      // What went on behind has left its shell.
      for (const child of behind) killGroup(child, 'SIGKILL');
      await web.close();
      rmSync(top, { recursive: true });
      return code;
    },
  };
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid!, signal);
  } catch {
    // It has ended.
  }
}

async function untilAnybodyListens(port: number): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  const isThere = () =>
    new Promise<boolean>((done) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => done(true)).once('error', () => done(false));
      socket.once('connect', () => socket.destroy());
    });
  while (!(await isThere()) && Date.now() < until) await new Promise((done) => setTimeout(done, AGAIN_MS));
}

function freePort(): Promise<string> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(String(port)));
    });
  });
}

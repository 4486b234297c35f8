/**
 * Runs the operator's program for an event: no shell, the event as JSON on its standard input, its main facts as
 * SUMI_EVENT_… variables. What it prints goes to standard error. Exit code 0 is success. Any other end is reported and
 * not tried again, because nobody knows what the program had done by then.
 */
import { spawn } from 'node:child_process';
import type { Delivered } from './delivery-queue.ts';
import type { ChangeEvent } from './watch-event.ts';

export interface CommandOptions {
  /** Program and arguments. */
  words: readonly string[];
  env: NodeJS.ProcessEnv;
  /** It is ended when it takes longer. */
  timeoutMs: number;
}

/** Secrets that the program does not get. */
const KEPT_BACK = ['SUMI_WEBHOOK_SECRET', 'SUMI_AUTH', 'SUMI_COOKIE', 'SUMI_HEADER'];

export function createCommand(
  options: CommandOptions,
): (event: ChangeEvent, signal: AbortSignal) => Promise<Delivered> {
  return (event, signal) => run(event, options, signal);
}

function run(
  event: ChangeEvent,
  { words, env, timeoutMs }: CommandOptions,
  signal: AbortSignal,
): Promise<Delivered> {
  const [program, ...args] = words;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: { ...withoutSecrets(env), ...factsOf(event) },
      stdio: ['pipe', process.stderr, process.stderr],
      signal,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const end = (error: string | null) => resolve(error === null ? null : { error, isWorthRetrying: false });
    child.on('error', (error) => end(error.message));
    child.on('close', (code, killedBy) => {
      if (code === 0) end(null);
      else end(code === null ? `ended by ${killedBy} (it has ${timeoutMs / 1000} s)` : `exit code ${code}`);
    });
    // A program that does not read its input is no failure.
    child.stdin.on('error', () => {});
    child.stdin.end(`${JSON.stringify(event)}\n`);
  });
}

function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !KEPT_BACK.includes(name)));
}

function factsOf(event: ChangeEvent): Record<string, string> {
  const facts = {
    ID: event.id,
    PROJECT: event.project,
    RUN: String(event.run),
    URL: event.url,
    OUTCOME: event.outcome,
    KNOWN_BY: event.known_by,
    VISITED_AT: event.visited_at,
    STATUS: event.status_code === null ? '' : String(event.status_code),
    TITLE: event.title ?? '',
    PARTS: event.parts.join(','),
  };
  // No variable can hold a NUL, which a title may have.
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [`SUMI_EVENT_${name}`, value.replaceAll('\0', '')]),
  );
}

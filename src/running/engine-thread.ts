/**
 * The thread of the engine: a file of its own, which the build puts beside the rest. It owns the store's one writer; doors
 * talk to it by messages (start-engine.ts). It lives until it is told to close, or its store fails.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { packError } from '../primitives/travelling-error.ts';
import { createEngine } from './create-engine.ts';
import type { Engine } from './engine.ts';
import type { EngineData, FromEngine, Heard, ToEngine } from './engine-messages.ts';

const port = parentPort!;
const say = (message: FromEngine) => port.postMessage(message);

function fatal(error: unknown): void {
  say({ fatal: packError(error) });
  // What was said has to arrive.
  setImmediate(() => process.exit(1));
}

const endings = new Map<number, () => void>();

async function answer(engine: Engine, message: ToEngine): Promise<unknown> {
  if ('unlisten' in message) {
    endings.get(message.unlisten)?.();
    endings.delete(message.unlisten);
    return undefined;
  }
  if ('listen' in message) {
    const { listen: to, id, listening } = message;
    const { phase, seq, end } = await engine.listen(id, listening, (event) => say({ to, event }));
    endings.set(to, end);
    return { phase, seq } satisfies Heard;
  }
  if ('close' in message) return engine.close();
  const { group, verb, args } = message;
  const verbs = (group === '' ? engine : engine[group]) as unknown as Record<
    string,
    (...args: unknown[]) => Promise<unknown>
  >;
  return verbs[verb](...args);
}

async function hear(engine: Engine, message: ToEngine): Promise<void> {
  const call = 'call' in message ? message.call : null;
  try {
    const found = await answer(engine, message);
    if (call !== null) say({ call, answer: found });
  } catch (error) {
    if (call === null) say({ report: packError(error) });
    else say({ call, error: packError(error) });
  }
  // Only now: whoever closes it hears that first.
  if ('close' in message) port.close();
}

const { options } = workerData as EngineData;
createEngine(options, {
  onReport: (error) => say({ report: packError(error) }),
  onFailure: fatal,
}).then((engine) => {
  port.on('message', (message: ToEngine) => void hear(engine, message));
  say('ready');
}, fatal);

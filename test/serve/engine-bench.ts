// An engine on a store of its own, in this process or in its thread, and projects of the fake web in it.
import { afterEach } from 'vitest';
import { createEngine, type EngineSurroundings } from '../../src/running/create-engine.ts';
import type { Engine, EngineOptions, SettingChange } from '../../src/running/engine.ts';
import type { LiveEvent } from '../../src/running/live-event.ts';
import type { Phase, PhaseState } from '../../src/running/phase.ts';
import { startEngine } from '../../src/running/start-engine.ts';
import { type Bench, useBench } from '../crawls/crawl-site.ts';
import { eachStore, type StorePlace } from '../crawls/each-store.ts';

export type StoreName = 'SQLite' | 'PostgreSQL';
export const STORES: readonly StoreName[] = ['SQLite', 'PostgreSQL'];

/** Fast and steady; nothing is looked for but links. */
export const QUICK: SettingChange = {
  delay: 0,
  'retry-delay': 0.02,
  'adaptive-delay': false,
  discover: ['links'],
};

export interface EngineBench extends Bench {
  place(store: StoreName): Promise<StorePlace>;
  options(place: StorePlace, more?: Partial<EngineOptions>): EngineOptions;
  /** Closed after the test. */
  engine(
    place: StorePlace,
    more?: Partial<EngineOptions>,
    around?: EngineSurroundings & { isThread?: boolean },
  ): Promise<Engine>;
  /** What went wrong in engines and nobody was told. */
  readonly reports: unknown[];
}

export function useEngines(): EngineBench {
  // Engines go first, then what they crawl and where they write.
  const engines: Engine[] = [];
  const reports: unknown[] = [];
  const bench = useBench();
  const stores = eachStore(bench);
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.close();
    reports.length = 0;
  });
  const options: EngineBench['options'] = (place, more = {}) => ({
    storeAddress: addressOf(place),
    ...{ concurrency: 20, maxRunning: 4, onRestart: 'resume', maxPagesLimit: 1000 },
    ...{ egressAllow: ['127.0.0.0/8'], ownPort: null, operator: {} },
    keyFile: `${bench.file().folder}/service.key`,
    ...more,
  });
  return {
    ...bench,
    reports,
    place: (store) => stores[store](),
    options,
    async engine(place, more, { isThread = false, ...around } = {}) {
      const onReport = (error: unknown) => void reports.push(error);
      const engine = isThread
        ? await startEngine(options(place, more), { onReport })
        : await createEngine(options(place, more), { onReport, env: {}, ...around });
      engines.push(engine);
      return engine;
    },
  };
}

export const addressOf = ({ options }: StorePlace): string => (options.store ?? options.db) as string;

let made = 0;

/** A project of this site. */
export function newProject(engine: Engine, url: string, settings: SettingChange = {}): Promise<string> {
  made++;
  return engine.projects.create({
    name: `project ${made}`,
    websiteUrl: url,
    settings: { ...QUICK, ...settings },
  });
}

/** Reads the phase again and again until it is one of these. */
export async function untilState(engine: Engine, id: string, ...states: PhaseState[]): Promise<Phase> {
  for (;;) {
    const phase = await engine.runs.phase(id);
    if (states.includes(phase.state)) return phase;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export const ended = (engine: Engine, id: string): Promise<Phase> =>
  untilState(engine, id, 'completed', 'stopped', 'failed', 'interrupted');

/** What is told of the project from now on, and who waits for an event of it. */
export async function hearAll(engine: Engine, id: string | null, pages = true) {
  const events: LiveEvent[] = [];
  const waiting: { fits: (event: LiveEvent) => boolean; resolve: (event: LiveEvent) => void }[] = [];
  const heard = await engine.listen(id, { pages }, (event) => {
    events.push(event);
    for (const one of [...waiting]) {
      if (!one.fits(event)) continue;
      waiting.splice(waiting.indexOf(one), 1);
      one.resolve(event);
    }
  });
  return {
    ...heard,
    events,
    next: (fits: (event: LiveEvent) => boolean) =>
      new Promise<LiveEvent>((resolve) => void waiting.push({ fits, resolve })),
  };
}

// A service in a process of its own, which is killed by whoever started it: begins a run, and says which.
import { register } from 'node:module';
import type { EngineOptions } from '../../src/running/engine.ts';

// The driver of PostgreSQL as the tests have it.
register(new URL('../../scripts/repair-driver-hooks.mjs', import.meta.url));
const { createEngine } = await import('../../src/running/create-engine.ts');
const options = JSON.parse(process.env.ENGINE_OPTIONS!) as EngineOptions;
const engine = await createEngine(options, { onReport: (error) => console.error(error) });
const id = await engine.projects.create({
  name: 'killed',
  websiteUrl: process.env.ENGINE_URL!,
  settings: { delay: 0.1, 'per-host': 1, 'adaptive-delay': false, discover: ['links'] },
});
const { run } = await engine.runs.start(id, { type: 'manual' });
process.send!({ id, run });

/** Options that say where a command works and what it prints: no run and no project keeps them for the next one. */
import type { OptionName } from './option-table.ts';

export const COMMAND_OPTIONS: readonly OptionName[] = [
  'config',
  'db',
  'store',
  'isolated',
  'fresh',
  'urls',
  'json',
  'format',
  'quiet',
  'verbose',
  'lease-seconds',
  'drain-seconds',
  'store-patience',
  'metrics-port',
  'metrics-host',
  // Whoever can write to a store must not thereby run programs or read files on the machines of others.
  'on-change',
  'webhook-secret-file',
];

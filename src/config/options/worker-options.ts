/** Options of a worker among others on one store. None of them changes what is crawled. */

import type { OptionGroup } from '../option-spec.ts';

export const workerOptions = {
  'lease-seconds': {
    type: 'seconds',
    default: 60,
    min: 3,
    max: 3600,
    hashed: false,
    doc: 'How long a worker that vanished keeps its hosts; it renews three times as often.',
  },
  'drain-seconds': {
    type: 'seconds',
    default: 30,
    min: 0,
    max: 3600,
    hashed: false,
    doc: 'How long a worker told to stop waits for requests under way.',
  },
  'store-patience': {
    type: 'seconds',
    default: 300,
    min: 0,
    max: 86_400,
    hashed: false,
    doc: 'How long a store that does not answer is waited for before the crawl gives up; it can go on later.',
  },
  'metrics-port': {
    type: 'integer',
    nullable: true,
    default: null,
    min: 0,
    max: 65_535,
    hashed: false,
    doc: 'Serve /healthz, /readyz and /metrics (Prometheus) on this port; 0 takes a free one.',
  },
  'metrics-host': {
    type: 'string',
    default: '127.0.0.1',
    check: (text) => text.trim() !== '',
    expected: 'an address of this machine',
    placeholder: 'ADDRESS',
    hashed: false,
    doc: 'The address that --metrics-port listens on; 0.0.0.0 for all.',
  },
} as const satisfies OptionGroup;

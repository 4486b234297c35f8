/** Options for a worker that shares a store with others. None of them changes what is crawled. */

import type { OptionGroup } from '../option-spec.ts';
import { FILLED } from '../text-patterns.ts';

export const workerOptions = {
  'lease-seconds': {
    setBy: 'operator',
    type: 'seconds',
    default: 60,
    min: 3,
    max: 3600,
    hashed: false,
    doc: 'The time without a sign of life from a worker after which other workers get its hosts.',
  },
  'drain-seconds': {
    setBy: 'operator',
    type: 'seconds',
    default: 30,
    min: 0,
    max: 3600,
    hashed: false,
    doc: 'How long to wait for running requests when the worker has to stop.',
  },
  'store-patience': {
    setBy: 'operator',
    type: 'seconds',
    default: 300,
    min: 0,
    max: 86_400,
    hashed: false,
    doc: 'How long to wait for a database that does not answer before the crawl ends. The crawl can continue later.',
  },
  'metrics-port': {
    setBy: 'operator',
    type: 'integer',
    nullable: true,
    default: null,
    min: 0,
    max: 65_535,
    hashed: false,
    doc: 'Serve /healthz, /readyz and /metrics (Prometheus) on this port. 0 takes a free port.',
  },
  'metrics-host': {
    setBy: 'operator',
    type: 'string',
    default: '127.0.0.1',
    pattern: FILLED,
    expected: 'an address of this machine',
    placeholder: 'ADDRESS',
    hashed: false,
    doc: 'The address that --metrics-port listens on. 0.0.0.0 is all addresses.',
  },
} as const satisfies OptionGroup;

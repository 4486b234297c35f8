/** When a failed page is requested again: after pauses that grow by Fibonacci, that double, or that stay the same. */
import { fibonacci } from '../../politeness/host-pace.ts';

export interface RetryOptions {
  retries: number;
  backoff: 'exponential' | 'constant' | 'fibonacci';
  delayMs: number;
  maxBackoffMs: number;
}

const FACTORS: Record<RetryOptions['backoff'], (attempt: number) => number> = {
  exponential: (attempt) => 2 ** (attempt - 1),
  constant: () => 1,
  fibonacci: (attempt) => fibonacci(attempt),
};

/** The pause before retry number `attempt` (from 1), or null when the tries are used up. */
export function retryPauseMs(attempt: number, options: RetryOptions): number | null {
  if (attempt > options.retries) return null;
  return Math.min(FACTORS[options.backoff](attempt) * options.delayMs, options.maxBackoffMs);
}

/** One sentence for people: what a run does now, or what it waits for. */
import type { ProgressEvent, WaitingFor } from '../events/events.ts';
import type { PhaseState } from './phase.ts';

export interface ProgressToExplain {
  state: PhaseState;
  ordered: 'pause' | 'stop' | null;
  inFlight: number;
  pages: number;
  last: ProgressEvent | null;
}

export function explainProgress({ state, ordered, inFlight, pages, last }: ProgressToExplain): string {
  if (ordered === 'stop') return 'It is being stopped.';
  if (state === 'paused')
    return inFlight > 0 ? `Paused; ${inFlight} open requests are finished first.` : 'Paused.';
  const waits = last?.waiting_for ?? null;
  if (waits !== null) return explainWait(waits);
  return pages === 0
    ? 'Running; no page has been crawled yet.'
    : `Running; ${pages} pages have been crawled.`;
}

const WAITS: Readonly<Record<WaitingFor['why'], (host: string, detail: string) => string>> = {
  delay: (host) => `Waits for the delay between two requests to ${host}.`,
  'crawl-delay': (host) => `Waits for the Crawl-delay that robots.txt of ${host} sets.`,
  'learned-delay': (host) => `Waits: ${host} answered too slowly, or refused, and gets fewer requests.`,
  blocked: (host) => `Waits: ${host} has asked for a pause.`,
  silence: (host) => `Waits: ${host} does not answer.`,
  robots: (host, detail) => `Waits for robots.txt of ${host}${detail}.`,
  retry: (host) => `Waits before the next try of a page of ${host}.`,
  answer: (host) => `Waits for an answer of ${host}.`,
  workers: () => 'Waits: other workers have all hosts.',
};

function explainWait({ why, host, detail }: WaitingFor): string {
  return WAITS[why](host ?? 'the host', detail === null ? '' : ` (${detail})`);
}

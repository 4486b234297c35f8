/**
 * Which services are alive on this store: each says so every few seconds in a record that expires. On one machine a dead
 * process is known at once by its number, so that whoever starts after a crash waits for nothing.
 */
import type { Clock } from '../primitives/clock.ts';
import type { RecordPort } from '../store/record-port.ts';
import { isAtWork, newOwner } from '../watch/watcher.ts';

const BEAT_EVERY_MS = 5_000;
const ALIVE_MS = 30_000;
const PREFIX = 'alive/';

export interface Services {
  /** The name of this process. */
  readonly own: string;
  /** Resolves when others can see this service. */
  begin(): Promise<void>;
  isAlive(service: string): Promise<boolean>;
  end(): Promise<void>;
}

export function createServices(
  records: RecordPort,
  clock: Clock,
  onFailure: (error: unknown) => void,
): Services {
  const own = newOwner();
  let cancel = () => {};
  let hasEnded = false;

  async function beat(): Promise<void> {
    const until = clock.now() + ALIVE_MS;
    await records.put('service', '', PREFIX + own, { until }, { expiresAt: until });
  }

  function beatLater(): void {
    if (hasEnded) return;
    cancel = clock.after(BEAT_EVERY_MS, () => void beat().catch(onFailure).then(beatLater));
  }

  return {
    own,
    async begin() {
      await beat();
      beatLater();
    },
    async isAlive(service) {
      if (service === own) return true;
      const found = await records.get<{ until: number }>('service', '', PREFIX + service);
      return found !== null && isAtWork({ owner: service, until: found.value.until }, clock.now());
    },
    async end() {
      hasEnded = true;
      cancel();
      await records.remove('service', '', PREFIX + own);
    },
  };
}

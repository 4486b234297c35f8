/** Gives a host its turn: counts what is open, and decides when a turn has ended what becomes of the host. Never throws. */
import type { LeasedHost } from '../hosts/leased-host.ts';
import type { LoopParts } from './loop-parts.ts';

export interface Turns {
  /** Turns that are given and not over. */
  readonly open: number;
  take(host: LeasedHost): void;
}

/** `giveTurn`: at most one request of the host. */
export function createTurns(
  loop: LoopParts,
  giveTurn: (host: LeasedHost, now: number) => Promise<void>,
): Turns {
  const { clock, slots, hosts, schedule, signal, alarm } = loop;
  let open = 0;

  function end(host: LeasedHost): void {
    open--;
    slots.give();
    host.openTurns--;
    if (host.openTurns === 0 && hosts.isPausedTooLong(host))
      return void hosts.closePaused(host).catch(signal.fail).then(alarm.ring);
    host.giveUpGuesses(clock.now());
    schedule.place(host);
    if (host.isIdle) hosts.releaseIfIdle(host).catch(signal.fail);
    else if (host.lease.isWanted) hosts.giveBack(host).catch(signal.fail);
    alarm.ring();
  }

  return {
    get open() {
      return open;
    },
    take(host) {
      const now = clock.monotonic();
      if (host.leaseEnds <= now) {
        host.isLapsed = true; // until the lease is renewed
        return;
      }
      open++;
      slots.take();
      host.openTurns++;
      host.turnSince = now;
      const ended = () => end(host);
      giveTurn(host, now).then(ended, (error) => {
        signal.fail(error);
        ended();
      });
    },
  };
}

/**
 * How long V8's optimizing compiler is told to wait before it calls a function hot. What happens before the first request
 * happens once, and is over before the compiler's time for it pays off; so is a run that hears mostly "not modified", which
 * runs little of the code that reads pages. A polite one has time enough but for its beginning, when all hosts are new and
 * several workers compile the same. Decision 0020. Only for the command: a program that uses the library has flags of its own.
 */
import type { Config } from '../config/load-config.ts';
import type { EventListener } from '../report/events.ts';

// Bytes of bytecode that a function runs between two looks at how hot it is.
const V8S_OWN = '--interrupt-budget=67584';
const PATIENT = '--interrupt-budget=200000';
const VERY_PATIENT = '--interrupt-budget=600000';

type SetFlags = (flags: string) => void;

/** Very patient at once; the run's events say how it goes on. */
export function patientCompiler(config: Pick<Config, 'delay' | 'mode'>, setFlags: SetFlags): EventListener {
  setFlags(VERY_PATIENT);
  return (event) => {
    const isRevisit = event.type === 'run' && !event.resumed && event.known_urls > 0;
    const mode = event.type === 'mode' ? event.mode : isRevisit ? config.mode : null;
    if (mode === 'incremental') setFlags(VERY_PATIENT);
    else if (event.type === 'run') setFlags(config.delay > 0 ? PATIENT : V8S_OWN);
  };
}

export function patientWhenPolite({ delay }: Pick<Config, 'delay'>, setFlags: SetFlags): void {
  if (delay > 0) setFlags(PATIENT);
}

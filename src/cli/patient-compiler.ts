/**
 * When V8's optimizing compiler is told to wait longer before it calls a function hot. A run that hears mostly "not
 * modified" runs little of the code that reads pages, and is over before the compiler's time for it pays off. A polite one
 * has time enough but for its beginning, when all hosts are new and several workers compile the same. Decision 0020.
 * Only for the command: a program that uses the library has flags of its own.
 */
import type { Config } from '../config/load-config.ts';
import type { EventListener } from '../report/events.ts';

// Bytes of bytecode that a function runs between two looks at how hot it is; V8's own number is 67,584.
const PATIENT = '--interrupt-budget=200000';
const VERY_PATIENT = '--interrupt-budget=600000';

type SetFlags = (flags: string) => void;

export function patientCompiler(config: Pick<Config, 'delay' | 'mode'>, setFlags: SetFlags): EventListener {
  return (event) => {
    const isRevisit = event.type === 'run' && !event.resumed && event.known_urls > 0;
    const mode = event.type === 'mode' ? event.mode : isRevisit ? config.mode : null;
    if (mode === 'incremental') setFlags(VERY_PATIENT);
    else if (event.type === 'run') patientWhenPolite(config, setFlags);
  };
}

export function patientWhenPolite({ delay }: Pick<Config, 'delay'>, setFlags: SetFlags): void {
  if (delay > 0) setFlags(PATIENT);
}

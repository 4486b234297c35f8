/**
 * A run that hears mostly "not modified" runs little of the code that reads pages, and is over before the optimizing
 * compiler's time for it pays off: there V8 is told to wait longer before it calls a function hot. Decision 0020.
 * Only for the command: a program that uses the library has flags of its own.
 */
import type { EventListener } from '../report/events.ts';

/** Bytes of bytecode that a function runs between two looks at how hot it is; V8's own number is 67,584. */
const PATIENT = '--interrupt-budget=600000';

export function patientCompiler(wanted: string, setFlags: (flags: string) => void): EventListener {
  return (event) => {
    const isRevisit = event.type === 'run' && !event.resumed && event.known_urls > 0;
    const mode = event.type === 'mode' ? event.mode : isRevisit ? wanted : null;
    if (mode === 'incremental') setFlags(PATIENT);
  };
}

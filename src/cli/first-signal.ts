/** The signals that end a command which goes on until somebody ends it. */
import { EXIT_CODES } from '../errors.ts';

/** Resolves at the first signal; a second one leaves at once. */
export function firstSignal(): Promise<null> {
  return new Promise((resolve) => {
    let isEnding = false;
    const onSignal = () => {
      if (isEnding) process.exit(EXIT_CODES.interrupted);
      isEnding = true;
      resolve(null);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  });
}

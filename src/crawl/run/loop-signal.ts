/**
 * What a loop is told from outside its own work: to stop, or that something failed that no call can answer for. Every
 * part of the loop reads it before it begins something; what is under way is finished.
 */
export interface LoopSignal {
  /** A new turn or search may begin. */
  readonly mayBegin: boolean;
  readonly isStopped: boolean;
  readonly hasFailed: boolean;
  /** False when it was stopped before. */
  stop(): boolean;
  /** The first failure counts. */
  fail(error: unknown): void;
  /** Throws what failed. */
  throwFailure(): void;
}

export function createLoopSignal(onChange: () => void): LoopSignal {
  let isStopped = false;
  let failure: { error: unknown } | null = null;
  return {
    get mayBegin() {
      return !isStopped && failure === null;
    },
    get isStopped() {
      return isStopped;
    },
    get hasFailed() {
      return failure !== null;
    },
    stop() {
      if (isStopped) return false;
      isStopped = true;
      onChange();
      return true;
    },
    fail(error) {
      failure ??= { error };
      onChange();
    },
    throwFailure() {
      if (failure !== null) throw failure.error;
    },
  };
}

/** An error as it passes from thread to thread: its class does not, so that it is made anew. */
import { type ErrorCode, type FieldProblem, SumiError } from '../errors.ts';

export interface TravellingError {
  code: ErrorCode | null;
  details: Record<string, string | number>;
  /** The fields that are wrong. */
  errors?: readonly FieldProblem[];
  name: string;
  message: string;
  stack: string | undefined;
  cause: TravellingError | null;
}

export function packError(error: unknown): TravellingError {
  const { name, message, stack, cause } = error instanceof Error ? error : new Error(String(error));
  const ours = error instanceof SumiError ? error : null;
  return {
    code: ours?.code ?? null,
    details: { ...ours?.details },
    errors: ours?.errors ?? [],
    ...{ name, message, stack },
    cause: cause === undefined ? null : packError(cause),
  };
}

export function unpackError(packed: TravellingError): Error {
  const { code, details, errors = [], name, message, stack, cause } = packed;
  const inner = cause === null ? undefined : unpackError(cause);
  if (code !== null) return new SumiError(code, { ...details, errors }, inner);
  const error = new Error(message, inner && { cause: inner });
  return Object.assign(error, { name, stack });
}

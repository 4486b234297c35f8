/** Every question of a read side answers its database's errors in the words of errors.ts, streams while they flow too. */
import type { Questions } from './question-names.ts';

export function explainFailures<Side extends Questions>(
  side: Side,
  explain: (error: unknown) => unknown,
): Side {
  const isStream = (answer: unknown): answer is AsyncIterable<unknown> =>
    typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
  async function* stream(rows: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    try {
      yield* rows;
    } catch (error) {
      throw explain(error);
    }
  }
  const explained =
    (ask: (...args: never[]) => unknown) =>
    (...args: never[]) => {
      const answer = ask(...args);
      if (isStream(answer)) return stream(answer);
      return (answer as Promise<unknown>).catch((error) => {
        throw explain(error);
      });
    };
  return Object.fromEntries(
    Object.entries(side).map(([name, ask]) => [name, explained(ask)]),
  ) as unknown as Side;
}

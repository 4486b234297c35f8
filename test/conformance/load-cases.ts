/**
 * Reads the shared conformance cases, which are not part of this repository. Where they are absent the suite prints
 * why nothing ran; where they are present a test asserts how many cases ran, so that none is lost silently.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';

export interface ConformanceCase {
  readonly id: string;
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: each kind of case has a shape of its own.
  readonly input: any;
  // biome-ignore lint/suspicious/noExplicitAny: each kind of case has a shape of its own.
  readonly expected: any;
  readonly tags: readonly string[];
  readonly core?: boolean;
}

export interface ConformanceSuite {
  readonly suite: string;
  /** The cases come in two halves; lists of exceptions by id are about half A. */
  readonly half: string;
  readonly count: number;
  readonly cases: readonly ConformanceCase[];
}

const directory = process.env.CONFORMANCE_DIR ?? '../shared/conformance';

/** The suite at `path`, such as `robots/protego.json`, or null where the data is not on this machine. */
export function loadCases(path: string): ConformanceSuite | null {
  const file = join(directory, path);
  if (!existsSync(file)) return null;
  return JSON.parse(readFileSync(file, 'utf8')) as ConformanceSuite;
}

/** A `describe` for the suites at `paths`; says what is missing instead of passing for it. */
export function describeCases(
  title: string,
  paths: readonly string[],
  body: (...suites: ConformanceSuite[]) => void,
): void {
  const suites = paths.map(loadCases);
  const missing = paths.filter((_, i) => suites[i] === null);
  if (missing.length > 0) {
    console.warn(`${title}: not run, no ${missing.join(', ')} in ${directory} (set CONFORMANCE_DIR)`);
    // biome-ignore lint/suspicious/noSkippedTests: said aloud above; the data is not part of the repository.
    describe.skip(`${title} (conformance data absent)`, () => {});
    return;
  }
  describe(title, () => body(...(suites as ConformanceSuite[])));
}

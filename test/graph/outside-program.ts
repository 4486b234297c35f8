/** Programs of others that judge what we write. Where one is not installed the reason is printed, and nothing passes for it. */
import { spawnSync } from 'node:child_process';
import { describe } from 'vitest';

/** True when the command ends well; what it takes to have it is printed where it does not. */
export function isThere(command: string, args: readonly string[], howToGet: string): boolean {
  const { status, error } = spawnSync(command, args, { stdio: 'ignore' });
  const isFound = error === undefined && status === 0;
  if (!isFound) console.warn(`not run: \`${command} ${args.join(' ')}\` does not work here (${howToGet})`);
  return isFound;
}

export function describeWhere(isPossible: boolean, title: string, body: () => void): void {
  if (isPossible) describe(title, body);
  // biome-ignore lint/suspicious/noSkippedTests: said aloud by isThere; the program is not part of the repository.
  else describe.skip(`${title} (program absent)`, () => {});
}

/** What a program says of an input, and whether it was content. */
export function judge(command: string, args: readonly string[], input: string | Buffer) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  return { status, stdout, stderr };
}

/** Tells the operator of settings that an older version kept with the project and that are not used any more. */
import type { Config } from '../config/load-config.ts';

export function warnUnusedSettings({ unusedSettings: unused, quiet }: Config): void {
  if (unused.length === 0 || quiet) return;
  const drop = unused.map((name) => `--unset ${name}`).join(' ');
  process.stderr.write(
    `warning: the project keeps ${unused.join(', ')} from an older version; a project may not set that any more, so it is ` +
      `not used; give it with the command, or drop it: sumi project NAME ${drop}\n`,
  );
}

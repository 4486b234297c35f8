/**
 * Puts Debian packages in place that a test server needs. Only what is missing is installed, and no service is started
 * by it. Where that is not possible the error says which command would do it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

/** Debian asks this program whether a package may start its service. */
const POLICY = '/usr/sbin/policy-rc.d';

export function installPackages(packages: readonly string[]): void {
  const install = ['install', '-y', '-q', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];
  const apt = (...args: string[]) =>
    execFileSync('apt-get', args, {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  const hasPolicy = existsSync(POLICY);
  try {
    if (!hasPolicy) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
    try {
      apt(...install, ...packages);
    } catch {
      // A list of packages that is too old names files that are gone; a new list says what there is now.
      apt('update', '-q');
      apt(...install, ...packages);
    }
  } catch (cause) {
    throw new Error(`these tests need: sudo apt-get install -y ${packages.join(' ')}`, { cause });
  } finally {
    if (!hasPolicy) rmSync(POLICY, { force: true });
  }
}

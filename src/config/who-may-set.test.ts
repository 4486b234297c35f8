import { describe, expect, it } from 'vitest';
import { OPTION_NAMES, OPTIONS, type OptionName } from './option-table.ts';
import { isPassedOn, OPERATOR_CRAWL_OPTIONS } from './who-may-set.ts';

/** Programs to run, files and folders, proxies, name servers, stores, secrets, ports, inner networks, robots.txt. */
const NEVER_OF_A_STRANGER: readonly OptionName[] = [
  ...(['on-change', 'config', 'urls', 'db', 'store', 'bodies', 'webhook-secret-file'] as const),
  ...([
    'proxy',
    'resolve',
    'auth',
    'cookie',
    'header',
    'webhook',
    'webhook-secret',
    'webhook-allow',
    'egress-allow',
  ] as const),
  ...(['metrics-port', 'metrics-host', 'robots', 'robots-unreachable'] as const),
];

describe('who may set an option', () => {
  it('is never a stranger for what reaches this machine, and never for a secret', () => {
    const secret = OPTION_NAMES.filter((name) => OPTIONS[name].secret);
    expect(secret.length).toBeGreaterThan(5);
    expect(secret.filter((name) => OPTIONS[name].setBy !== 'operator')).toEqual([]);
    expect(NEVER_OF_A_STRANGER.filter((name) => OPTIONS[name].setBy === 'project')).toEqual([]);
  });

  it('is never a stranger for a value that names a file or a command', () => {
    const reaching = OPTION_NAMES.filter((name) =>
      /\b(FILE|DIR|COMMAND|PASSWORD)\b/.test(OPTIONS[name].placeholder ?? ''),
    );
    expect(reaching.length).toBeGreaterThan(6);
    expect(reaching.filter((name) => OPTIONS[name].setBy === 'project')).toEqual([]);
  });

  it('decides what a stored run passes on: options of projects, but for what a watch may spend', () => {
    const kept = OPTION_NAMES.filter((name) => OPTIONS[name].setBy === 'project' && !isPassedOn(name));
    expect(kept).toEqual(['budget', 'host-budget', 'hours', 'every']);
    expect(OPTION_NAMES.filter((name) => isPassedOn(name) && OPTIONS[name].setBy !== 'project')).toEqual([]);
  });

  it('names the options that whoever goes on with a run gives again', () => {
    expect([...OPERATOR_CRAWL_OPTIONS].sort()).toEqual(['bodies', 'resolve', 'robots', 'robots-unreachable']);
  });
});

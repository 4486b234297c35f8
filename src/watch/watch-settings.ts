/** The options of a watch as values: rates, hours, receivers. */
import { readFile } from 'node:fs/promises';
import type { RevisitKind } from '../change/revisit/revisit-plan.ts';
import type { Config } from '../config/load-config.ts';
import { type DayHours, readBudget, readHours, readWords } from '../config/watch-values.ts';
import { sumiError } from '../errors.ts';
import { createAddressGuard } from './allowed-address.ts';
import type { BudgetOptions } from './visit-budget.ts';

export interface WatchSettings extends BudgetOptions {
  kind: RevisitKind;
  everyMs: number;
  hours: DayHours | null;
}

export function settingsOf(config: Config): WatchSettings {
  const { revisit, budget, hostBudget, hours, every } = config;
  return {
    kind: revisit,
    // The option table has checked them.
    all: readBudget(budget)!,
    host: hostBudget === null ? null : readBudget(hostBudget)!,
    hours: hours === null ? null : readHours(hours),
    everyMs: every * 1000,
  };
}

/** Receivers of changes besides standard output. */
export interface Receivers {
  webhooks: readonly string[];
  allowedHosts: readonly string[];
  secret: string | null;
  /** Program and arguments. */
  command: readonly string[] | null;
}

export async function receiversOf(config: Config): Promise<Receivers> {
  const { webhook, webhookAllow, onChange } = config;
  refuseForbidden(config);
  return {
    webhooks: webhook,
    allowedHosts: webhookAllow,
    secret: await secretOf(config),
    command: onChange === null ? null : readWords(onChange),
  };
}

/** Refuses a webhook address at the start, not at the first lost event. The path of a webhook is often a password, so it is not shown. */
function refuseForbidden({ webhook, webhookAllow, sources }: Config): void {
  const guard = createAddressGuard(webhookAllow);
  for (const url of webhook.map((text) => new URL(text))) {
    const refusal = guard.refuse(url);
    if (refusal === null) continue;
    const expected = `https to a public address, or --webhook-allow ${url.hostname} (${refusal.refused})`;
    throw sumiError('bad-value', {
      ...{ option: 'webhook', value: url.origin, place: sources.webhook.from },
      expected,
    });
  }
}

/** The file wins over the variable. A line break at its end is not part of the secret. */
async function secretOf({ webhookSecret, webhookSecretFile: file, sources }: Config): Promise<string | null> {
  if (file === null) return webhookSecret;
  const place = sources['webhook-secret-file'].from;
  const refused = (expected: string, cause?: unknown) =>
    sumiError('bad-value', { option: 'webhook-secret-file', value: file, place, expected }, cause);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw refused('a file that this user may read', error);
  }
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') throw refused('a file with a secret in it');
  return secret;
}

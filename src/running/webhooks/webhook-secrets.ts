/**
 * URL and secret of webhooks: encrypted by the key file for one webhook of one project, and opened only to send. A key file
 * that is another one, or gone, opens nothing: the webhook then needs both again.
 */
import { type SumiError, sumiError } from '../../errors.ts';
import { createPoster, type PostEvent } from '../../watch/send-webhook.ts';
import type { Room } from '../room.ts';
import { openKeyFile, readKeyFile, type SealKey } from './key-file.ts';
import type { StoredWebhook } from './webhook-records.ts';

export interface Secrets {
  url: string;
  secret: string;
}

/** Which webhook it is. */
export interface Named {
  projectUid: string;
  id: string;
}

export interface WebhookSecrets {
  /** Refuses a key file that is broken, or that others can read. */
  check(): Promise<void>;
  seal(named: Named, secrets: Secrets): Promise<string>;
  /** What was sealed, with what is given in its place. Throws where neither is there. */
  change(named: Named, webhook: StoredWebhook, given: Partial<Secrets>): Promise<Secrets>;
  /** Null where it cannot be opened. */
  poster(named: Named, webhook: StoredWebhook, userAgent: string): Promise<PostEvent | null>;
  unreadable(): SumiError;
}

const TIMEOUT_MS = 15_000;
const purposeOf = ({ projectUid, id }: Named) => `sumi webhook ${projectUid}/${id}`;

export function createWebhookSecrets({
  options: { keyFile: file },
  egress,
  store,
}: Pick<Room, 'options' | 'egress' | 'store'>): WebhookSecrets {
  const now = () => store.clock.now();
  let key: SealKey | null = null;

  async function open(named: Named, { sealed }: StoredWebhook): Promise<Secrets | null> {
    // Another service may have made the key file meanwhile.
    key ??= await readKeyFile(file);
    const text = key?.open(sealed, purposeOf(named)) ?? null;
    return text === null ? null : (JSON.parse(text) as Secrets);
  }

  const unreadable = () =>
    sumiError('key-file-broken', { file, reason: 'it does not open what is kept of a webhook' });

  return {
    unreadable,
    async check() {
      key = await readKeyFile(file);
    },
    async seal(named, secrets) {
      key ??= await openKeyFile(file);
      return key.seal(JSON.stringify(secrets), purposeOf(named));
    },
    async change(named, webhook, given) {
      const before = await open(named, webhook);
      const [url, secret] = [given.url ?? before?.url, given.secret ?? before?.secret];
      if (url === undefined || secret === undefined) throw unreadable();
      return { url, secret };
    },
    async poster(named, webhook, userAgent) {
      const secrets = await open(named, webhook);
      if (secrets === null) return null;
      const url = new URL(secrets.url);
      const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
      const refuse = () => {
        const refused = egress.refuse(url);
        return refused === null ? null : { refused };
      };
      const guard = { refuse, lookup: egress.lookupFor(port) };
      return createPoster({ ...secrets, guard, userAgent, clock: { now }, timeoutMs: TIMEOUT_MS });
    },
  };
}

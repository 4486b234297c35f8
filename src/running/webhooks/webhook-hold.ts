/**
 * Of several services on a store, one sends the events of a webhook: it holds the webhook while something waits, and notes
 * how far it has come. A hold that is not renewed ends by itself; that of a process that is seen dead ends at once.
 */
import { isAtWork, newOwner } from '../../watch/watcher.ts';
import { NOTHING_SENT, type SentState, type WebhookRecords } from './webhook-records.ts';

const HOLD_MS = 60_000;
export const RENEW_MS = 20_000;

export interface Hold {
  readonly state: SentState;
  /** Renews the hold as well. Throws where another service has taken over. */
  save(change: Partial<SentState>): Promise<void>;
  release(): Promise<void>;
}

export interface HeldWebhook {
  /** Without holding it. */
  state(): Promise<SentState>;
  /** Null where another service holds it. */
  take(): Promise<Hold | null>;
}

export function createHeldWebhook(
  records: WebhookRecords,
  { projectUid, webhookId }: { projectUid: string; webhookId: string },
  now: () => number,
): HeldWebhook {
  const owner = newOwner();
  const sender = () => ({ owner, until: now() + HOLD_MS });
  const put = (state: SentState, version: number) => records.putSent(projectUid, webhookId, state, version);

  return {
    state: async () => (await records.sent(projectUid, webhookId))?.value ?? NOTHING_SENT,
    async take() {
      const found = await records.sent(projectUid, webhookId);
      const before = found?.value ?? NOTHING_SENT;
      const isOurs = before.sender?.owner === owner;
      if (!isOurs && isAtWork(before.sender, now())) return null;
      let state: SentState = { ...before, sender: sender() };
      let version = await put(state, found?.version ?? 0);
      if (version === null) return null;
      const write = async (next: SentState) => {
        const written = await put(next, version!);
        if (written === null) throw new Error(`another service sends for the webhook ${webhookId}`);
        version = written;
        state = next;
      };
      return {
        get state() {
          return state;
        },
        save: (change) => write({ ...state, ...change, sender: sender() }),
        release: () => write({ ...state, sender: null }),
      };
    },
  };
}

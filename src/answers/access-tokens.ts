/**
 * Tokens and the sessions of browsers: who may use the service. A secret is 256 random bits and is shown once; only its
 * SHA-256 hash is kept, and a secret is found by its hash, so that neither the records nor the time of an answer tell one.
 * Once a token was made, the service needs one for good: revoking the last one shuts it rather than opening it.
 */
import { createHash } from 'node:crypto';
import { sumiError } from '../errors.ts';
import type { Clock } from '../primitives/clock.ts';
import type { RecordPort, StoredRecord } from '../store/record-port.ts';

export type TokenScope = 'read' | 'write' | 'admin';

export interface NewToken {
  name: string;
  scopes: readonly TokenScope[];
  /** UUIDs; null: every project. */
  projects: readonly string[] | null;
  /** Wall milliseconds; null: never. */
  expiresAt: number | null;
}

export interface Token extends NewToken {
  id: string;
  createdAt: number;
  /** To the minute. */
  lastUsedAt: number | null;
}

export interface Session {
  token: Token;
  expiresAt: number;
}

interface KeptSession {
  tokenHash: string;
}

export interface AccessTokens {
  /** True where nobody gets in without a token. */
  areNeeded(): Promise<boolean>;
  /** The secret is told here, and never again. */
  create(token: NewToken): Promise<{ token: Token; secret: string }>;
  /** By when they were made. */
  list(): Promise<Token[]>;
  /** Refused where there is none (`token-unknown`). Its sessions end with it. */
  revoke(id: string): Promise<void>;
  /** Null for a secret that nobody has. */
  find(secret: string): Promise<Token | null>;
  /** Null where the secret is no token. */
  signIn(secret: string): Promise<{ session: Session; sessionSecret: string } | null>;
  findSession(sessionSecret: string): Promise<Session | null>;
  signOut(sessionSecret: string): Promise<void>;
}

const SESSION_MS = 12 * 3_600_000;
const LAST_USED_MS = 60_000;
/** For how long what was read is believed: a token that another process revokes works that much longer. */
const BELIEVED_MS = 1_000;
const PREFIX = 'sumi_';

export interface AccessTokensParts {
  records: RecordPort;
  clock: Clock;
  random: (bytes: number) => Buffer;
}

export function createAccessTokens({ records, clock, random }: AccessTokensParts): AccessTokens {
  const tokens = createCache<StoredRecord<Token>>(clock);
  const sessions = createCache<StoredRecord<KeptSession>>(clock);
  let isNeeded = false;
  let askedAt = Number.NEGATIVE_INFINITY;

  async function findByHash(hash: string): Promise<Token | null> {
    const record = await tokens.get(hash, () => records.get<Token>('token', '', hash));
    if (record === null || hasEnded(record.expiresAt)) return null;
    await noteUse(hash, record);
    return record.value;
  }

  const hasEnded = (expiresAt: number | null) => expiresAt !== null && expiresAt <= clock.now();

  async function noteUse(hash: string, { value, version, expiresAt }: StoredRecord<Token>): Promise<void> {
    const now = clock.now();
    if (value.lastUsedAt !== null && now - value.lastUsedAt < LAST_USED_MS) return;
    const used = { ...value, lastUsedAt: now };
    // Whoever revoked it meanwhile wins.
    const noted = await records.put('token', '', hash, used, { ifVersion: version, expiresAt });
    if (noted === null) tokens.drop(hash);
    else
      tokens.put(hash, {
        kind: 'token',
        scope: '',
        key: hash,
        value: used,
        version: noted,
        changedAt: now,
        expiresAt,
      });
  }

  async function listRecords(): Promise<StoredRecord<Token>[]> {
    const all: StoredRecord<Token>[] = [];
    let after: string | undefined;
    for (;;) {
      const some = await records.list<Token>({ kind: 'token', scope: '', after, limit: 1000 });
      all.push(...some);
      after = some.at(-1)?.key;
      if (some.length < 1000) return all.sort((a, b) => a.value.createdAt - b.value.createdAt);
    }
  }

  return {
    async areNeeded() {
      if (!isNeeded && clock.monotonic() - askedAt >= BELIEVED_MS) {
        askedAt = clock.monotonic();
        isNeeded = (await records.get('service', '', 'needs-token')) !== null;
      }
      return isNeeded;
    },
    async create(given) {
      const secret = PREFIX + random(32).toString('base64url');
      const token: Token = { id: uuidOf(random(16)), ...given, createdAt: clock.now(), lastUsedAt: null };
      // First: whoever is interrupted in between has shut the service, and not left it open with a token.
      await records.put('service', '', 'needs-token', true);
      isNeeded = true;
      await records.put('token', '', hashOf(secret), token, { ifVersion: 0, expiresAt: given.expiresAt });
      return { token, secret };
    },
    list: async () => (await listRecords()).map(({ value }) => value),
    async revoke(id) {
      const found = (await listRecords()).find(({ value }) => value.id === id);
      if (found === undefined) throw sumiError('token-unknown', { id });
      await records.remove('token', '', found.key);
      tokens.drop(found.key);
    },
    find: (secret) => findByHash(hashOf(secret)),
    async signIn(secret) {
      const tokenHash = hashOf(secret);
      const token = await findByHash(tokenHash);
      if (token === null) return null;
      const sessionSecret = random(32).toString('base64url');
      const expiresAt = Math.min(clock.now() + SESSION_MS, token.expiresAt ?? Number.POSITIVE_INFINITY);
      await records.put('session', '', hashOf(sessionSecret), { tokenHash }, { expiresAt });
      return { session: { token, expiresAt }, sessionSecret };
    },
    async findSession(sessionSecret) {
      const key = hashOf(sessionSecret);
      const record = await sessions.get(key, () => records.get<KeptSession>('session', '', key));
      if (record === null || hasEnded(record.expiresAt)) return null;
      const token = await findByHash(record.value.tokenHash);
      return token && { token, expiresAt: record.expiresAt ?? 0 };
    },
    async signOut(sessionSecret) {
      const key = hashOf(sessionSecret);
      await records.remove('session', '', key);
      sessions.drop(key);
    },
  };
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Version 4. */
export function uuidOf(bytes: Buffer): string {
  const own = Buffer.from(bytes.subarray(0, 16));
  own[6] = (own[6] & 0x0f) | 0x40;
  own[8] = (own[8] & 0x3f) | 0x80;
  return own.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const MOST_BELIEVED = 1_000;

/** What was found is believed for a moment; what was not found is asked for each time. */
function createCache<Value>(clock: Clock) {
  const kept = new Map<string, { value: Value; at: number }>();
  const put = (key: string, value: Value) => {
    kept.delete(key);
    kept.set(key, { value, at: clock.monotonic() });
    if (kept.size > MOST_BELIEVED) kept.delete(kept.keys().next().value as string);
  };
  return {
    async get(key: string, ask: () => Promise<Value | null>): Promise<Value | null> {
      const known = kept.get(key);
      if (known !== undefined && clock.monotonic() - known.at < BELIEVED_MS) return known.value;
      const value = await ask();
      if (value === null) kept.delete(key);
      else put(key, value);
      return value;
    },
    put,
    drop: (key: string) => void kept.delete(key),
  };
}

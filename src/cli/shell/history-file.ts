/**
 * What was typed in the shell before, newest first, kept for the next time. An entry is a whole statement, however
 * many lines it has. Only this user may read the file, and what looks like a password is not written. When the file
 * cannot be used, the shell works without it.
 */
import { appendFileSync, chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

export const MOST_ENTRIES = 1000;
const ONLY_OWNER = 0o600;
/** As in postgres://user:password@host, SET http_proxy_password, CREATE SECRET. */
const SECRET = /password|secret|passwd|:\/\/[^\s/'"]*:[^\s/'"]*@/i;

export interface HistoryFile {
  /** Newest first. */
  readonly entries: readonly string[];
  add(entry: string): void;
}

export function historyPath(env: Readonly<Record<string, string | undefined>>): string {
  const given = env.XDG_STATE_HOME ?? '';
  // A relative path there counts as none, says the specification of these variables.
  const state = isAbsolute(given) ? given : join(homedir(), '.local', 'state');
  return join(state, 'sumi', 'sql_history');
}

export function openHistory(path: string): HistoryFile {
  const entries = readEntries(path);
  let isUsable = true;

  function attempt(act: () => void): void {
    if (!isUsable) return;
    try {
      act();
    } catch {
      isUsable = false;
    }
  }

  return {
    entries,
    add(entry) {
      if (entry === '' || entries[0] === entry) return;
      entries.unshift(entry);
      entries.length = Math.min(entries.length, MOST_ENTRIES);
      if (SECRET.test(entry)) return;
      attempt(() => {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        // Added, not written anew: several shells share the file.
        appendFileSync(path, `${JSON.stringify(entry)}\n`, { mode: ONLY_OWNER });
      });
    },
  };
}

/** Also shortens the file, and takes from others the right to read it. */
function readEntries(path: string): string[] {
  let lines: string[];
  try {
    lines = readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
  const read = lines.flatMap(readEntry);
  const newest = read.slice(-MOST_ENTRIES);
  try {
    chmodSync(path, ONLY_OWNER);
    if (read.length > newest.length) {
      const fresh = `${path}.${process.pid}.new`;
      writeFileSync(fresh, newest.map((entry) => `${JSON.stringify(entry)}\n`).join(''), {
        mode: ONLY_OWNER,
      });
      renameSync(fresh, path);
    }
  } catch {
    // Whoever owns the file may keep it as it is.
  }
  return newest.reverse();
}

/** A line that was cut short, or written by somebody else, is passed over. */
function readEntry(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? [entry] : [];
  } catch {
    return [];
  }
}

/** A session that is played, and streams that may be terminals: what the shell is tested with. */
import { PassThrough } from 'node:stream';
import { type SumiError, sumiError } from '../../../src/errors.ts';
import type { RunScript, SqlProgress, SqlSession } from '../../../src/sql/sql-session.ts';

export interface FakeSession extends SqlSession {
  /** What was run, in order. */
  readonly ran: string[];
  /** What was asked of it besides. */
  readonly asked: string[];
  tell(progress: SqlProgress): void;
  notice(line: string): void;
}

/** What a statement writes, by a part of its text. `hang` waits for an interrupt, an error is thrown. */
export type Answers = Readonly<Record<string, string | readonly string[] | SumiError | 'hang'>>;

export function fakeSession(answers: Answers = {}): FakeSession {
  const ran: string[] = [];
  const asked: string[] = [];
  let progress: (told: SqlProgress) => void = () => {};
  let notice: (line: string) => void = () => {};
  let onInterrupt: (() => void) | null = null;

  async function run(script: string, { output, onStatement }: RunScript): Promise<void> {
    ran.push(script);
    const answer = Object.entries(answers).find(([part]) => script.includes(part))?.[1] ?? '';
    if (answer instanceof Error) throw answer;
    if (answer === 'hang') {
      await new Promise<void>((resolve) => {
        onInterrupt = resolve;
      });
      onInterrupt = null;
      throw sumiError('sql-interrupted');
    }
    for (const piece of typeof answer === 'string' ? [answer] : answer) await output.write(piece);
    onStatement?.({ text: script, milliseconds: 12 });
  }

  return {
    ran,
    asked,
    tell: (told) => progress(told),
    notice: (line) => notice(line),
    run,
    isComplete: (text) => /;\s*$/.test(text) || text.trim() === '',
    complete: async (text) => ({ words: ['SELECT ', 'SET ', 'pages', 'other'], start: text.search(/\w*$/) }),
    interrupt() {
      asked.push('interrupt');
      onInterrupt?.();
    },
    onProgress(listener) {
      progress = listener;
    },
    onNotice(listener) {
      notice = listener;
    },
    async rest() {
      asked.push('rest');
    },
    async close() {
      asked.push('close');
    },
  };
}

export interface FakeStream {
  stream: NodeJS.WriteStream & NodeJS.ReadStream;
  text(): string;
  /** Resolves when the text that came so far has this in it. */
  shows(part: string): Promise<void>;
}

export function fakeStream({ isTTY = false, columns = 80 } = {}): FakeStream {
  const stream = Object.assign(new PassThrough(), { isTTY, columns, setRawMode: () => stream });
  let text = '';
  const waits = new Set<() => void>();
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => {
    text += piece;
    for (const look of waits) look();
  });
  return {
    stream: stream as unknown as FakeStream['stream'],
    text: () => text,
    shows: (part) =>
      new Promise((resolve) => {
        const look = () => {
          if (!text.includes(part)) return;
          waits.delete(look);
          resolve();
        };
        waits.add(look);
        look();
      }),
  };
}

/** Where a person types: nobody but the shell reads it. */
export function fakeKeyboard(): NodeJS.ReadStream & { write(text: string): boolean } {
  const stream = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stream });
  return stream as unknown as NodeJS.ReadStream & { write(text: string): boolean };
}

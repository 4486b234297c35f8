import { describe, expect, it } from 'vitest';
import type { HistoryFile } from '../../../src/cli/shell/history-file.ts';
import { startShell } from '../../../src/cli/shell/start-shell.ts';
import { sumiError } from '../../../src/errors.ts';
import type { RunScript } from '../../../src/sql/sql-session.ts';
import { type Answers, fakeKeyboard, fakeSession, fakeStream } from './fakes.ts';

function memoryHistory(entries: string[] = []): HistoryFile {
  return {
    entries,
    add(entry) {
      if (entries[0] !== entry) entries.unshift(entry);
    },
  };
}

function open(answers: Answers = {}, { before = [] as string[], isInMemory = false } = {}) {
  const session = fakeSession(answers);
  const [out, err] = [fakeStream({ isTTY: true }), fakeStream({ isTTY: true })];
  const input = fakeKeyboard();
  const history = memoryHistory([...before]);
  let now = 0;
  const done = startShell({
    session,
    state: { format: 'table', isTimed: false },
    history,
    isInMemory,
    greeting: 'hello',
    input,
    out: out.stream,
    err: err.stream,
    isEditable: true,
    nowMs: () => {
      now += 1000;
      return now;
    },
    onSignal: () => () => {},
  });
  /** Types and waits until the session was asked to run this. */
  const type = (text: string) => input.write(text);
  const ran = async (text: string) => {
    for (let turns = 0; !session.ran.includes(text); turns++) {
      // Some turns of the loop are enough for all that is typed; what was run instead is worth knowing.
      if (turns === 1000) expect(session.ran).toContain(text);
      await new Promise(setImmediate);
    }
  };
  return { session, out, err, history, done, type, ran };
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const UP = '\u001b[A';

describe('the shell', () => {
  it('greets, runs statements of several lines as one, and leaves by Ctrl-D', async () => {
    const { session, out, err, type, ran, done } = open({ 'FROM pages': 'RESULT\n' });
    type('SELECT *\r');
    await out.shows('   -> ');
    type('FROM pages;\r');
    await ran('SELECT *\nFROM pages;');
    await out.shows('RESULT');
    type(CTRL_D);
    expect(await done).toBe(0);
    expect(session.asked.at(-1)).toBe('close');
    expect(err.text()).toBe('hello\n');
  });

  it('remembers a statement of several lines as one entry, which comes back whole', async () => {
    const { session, history, type, ran, done } = open({}, { before: ['SELECT 0;'] });
    const entry = 'SELECT 1,\n2,\n3;';
    type('SELECT 1,\r2,\r3;\r');
    await ran(entry);
    expect(history.entries).toEqual([entry, 'SELECT 0;']);
    // Twice: what readline makes of an entry that comes back must not get worse from time to time.
    for (let i = 0; i < 2; i++) {
      session.ran.length = 0;
      type(`${UP}\r`);
      await ran(entry);
    }
    expect(history.entries).toEqual([entry, 'SELECT 0;']);
    type('SELECT 4;\r');
    await ran('SELECT 4;');
    session.ran.length = 0;
    type(`${UP}${UP}\r`);
    await ran(entry);
    expect(history.entries).toEqual([entry, 'SELECT 4;', entry, 'SELECT 0;']);
    type(CTRL_D);
    await done;
  });

  it('goes on after an error, and shows its place', async () => {
    const error = sumiError('sql-failed', { problem: 'no such table', advice: 'Look.', line: 1, column: 6 });
    const { err, type, ran, done } = open({ nothing: error });
    type('FROM nothing;\r');
    await err.shows('code: sql-failed');
    expect(err.text()).toContain('line 1: FROM nothing;\n');
    type('SELECT 1;\r');
    await ran('SELECT 1;');
    type('.exit\r');
    expect(await done).toBe(0);
  });

  it('ends the statement under way by Ctrl-C, drops what was typed ahead, and stays', async () => {
    const { session, err, type, ran, done } = open({ long: 'hang' });
    type('long;\r');
    await ran('long;');
    type('ahead;\r');
    type(CTRL_C);
    await err.shows('interrupted');
    expect(session.asked).toEqual(['interrupt']);
    type('after;\r');
    await ran('after;');
    expect(session.ran).toEqual(['long;', 'after;']);
    type(CTRL_D);
    await done;
  });

  it('clears what is typed by Ctrl-C at the prompt, its lines above included', async () => {
    const { session, out, type, ran, done } = open();
    type('SELECT\r');
    type('half');
    await out.shows('half');
    type(CTRL_C);
    await out.shows('^C');
    type('SELECT 2;\r');
    await ran('SELECT 2;');
    expect(session.ran).toEqual(['SELECT 2;']);
    type(CTRL_C);
    await out.shows('Ctrl-D or .exit leaves');
    type('exit\r');
    expect(await done).toBe(0);
  });

  it('completes words in the case in which they were typed, also on the second line', async () => {
    const { out, type, ran, done } = open();
    type('x\r');
    await out.shows('   -> ');
    type('sel\t');
    await out.shows('select ');
    type('1;\r');
    await ran('x\nselect 1;');
    type(CTRL_D);
    await done;
  });

  it('leaves pasted text as it is, tabs included', async () => {
    const { type, ran, done } = open();
    type('SELECT\r\tsel\t + 1;\r');
    await ran('SELECT\n\tsel\t + 1;');
    type(CTRL_D);
    await done;
  });

  it('draws progress only while a statement runs, and takes it away before the result', async () => {
    const { session, out, err, type, ran, done } = open({ long: 'hang' });
    type('long;\r');
    await ran('long;');
    session.tell({ query: 10 });
    session.tell({ query: 40 });
    await err.shows(' 40 %');
    type(CTRL_C);
    await err.shows('interrupted');
    expect(err.text()).toContain('\u001b[J');
    expect(err.text().lastIndexOf('\u001b[J')).toBeLessThan(err.text().indexOf('interrupted'));
    expect(out.text()).not.toContain('%');
    type(CTRL_D);
    await done;
  });

  it('times statements and changes formats by dot commands', async () => {
    const { session, out, type, ran, done } = open({ 'SELECT 1': '1\n' });
    const formats: string[] = [];
    const run = session.run.bind(session);
    session.run = (script: string, options: RunScript) => {
      formats.push(options.format);
      return run(script, options);
    };
    type('.timer on\r.mode csv\rSELECT 1;\r');
    await ran('SELECT 1;');
    await out.shows('0.012 s');
    type('.format markdown;\rSELECT 2;\r');
    await ran('SELECT 2;');
    expect(formats).toEqual(['csv', 'markdown']);
    type('.quit\r');
    await done;
  });

  it('keeps values from controlling the terminal in every format', async () => {
    const { out, type, done } = open({ evil: '"\u001b[2J\u009b31m\u202e"\n' });
    type('evil;\r');
    await out.shows('[2J');
    expect(out.text()).not.toContain('\u001b[2J');
    expect(out.text()).not.toMatch(/[\u009b\u202e]/);
    type(CTRL_D);
    await done;
  });

  it('says at the end which background crawls end, and how they go on', async () => {
    const statement = "CRAWL (SELECT 'x')\nINTO pages WITH (background)";
    const unfinished = `${JSON.stringify({ target: 'pages', statement })}\n`;
    for (const isInMemory of [false, true]) {
      const { session, err, type, done } = open({ 'crawls()': unfinished }, { isInMemory });
      type(CTRL_D);
      expect(await done).toBe(0);
      expect(err.text()).toContain('1 background crawl is ended in good order.');
      expect(err.text().includes("  CRAWL (SELECT 'x') INTO pages WITH (background)\n")).toBe(!isInMemory);
      expect(session.asked).toEqual(['close']);
    }
  });

  it('drops what is typed behind .exit', async () => {
    const { session, type, done } = open();
    type('.exit\rSELECT 1;\r');
    expect(await done).toBe(0);
    expect(session.ran).not.toContain('SELECT 1;');
  });

  it('tells a notice above what is being typed', async () => {
    const { session, err, out, type, ran, done } = open();
    type('SELECT');
    await out.shows('SELECT');
    session.notice('pages lacks \u001b[2J columns');
    expect(err.text()).toBe('hello\npages lacks  [2J columns\n');
    type(' 1;\r');
    await ran('SELECT 1;');
    type(CTRL_D);
    await done;
  });

  it('knows no unknown dot command, and names the nearest', async () => {
    const { session, err, type, done } = open();
    type('.tabels\r');
    await err.shows('Try .tables');
    expect(session.ran).toEqual([]);
    type(CTRL_D);
    await done;
  });
});

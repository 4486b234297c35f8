import { describe, expect, it } from 'vitest';
import { checkSettings } from './check-settings.ts';
import { OPTION_NAMES, OPTIONS } from './option-table.ts';

describe('checkSettings', () => {
  it('gives what is right as the configuration has it', () => {
    const { values, problems } = checkSettings(
      {
        delay: '500ms',
        max_pages: 'none',
        include: ['/a/', '/b/,/c/'],
        'max-concurrent': 7,
        'store-text': false,
      },
      'project',
    );
    expect(problems).toEqual([]);
    expect(values).toEqual({
      ...{
        delay: 0.5,
        'max-pages': null,
        include: ['/a/', '/b/', '/c/'],
        concurrency: 7,
        'store-text': false,
      },
    });
  });

  it('suggests only what the asker may set', () => {
    const suggested = (setBy: 'project' | 'operator') =>
      checkSettings({ proxi: 'http://x:1' }, setBy).problems[0].expected;
    expect(suggested('operator')).toBe('the name of an option, such as proxy');
    expect(suggested('project')).not.toMatch(/proxy/);
  });

  it('names every problem at once: option, value, what was expected, who may set it', () => {
    const { values, problems } = checkSettings(
      {
        ...{
          delay: -1,
          mode: 'quick',
          'max-page': 5,
          mox: 1,
          'on-change': 'rm -rf /',
          quiet: true,
          retries: 2,
        },
        ...{ include: ['('], preset: ['nwes'], auth: 'me:hush', proxy: 'http://me:hush@p:1' },
      },
      'project',
    );
    expect(values).toEqual({ retries: 2 });
    expect(problems).toEqual([
      {
        option: 'delay',
        value: '-1',
        expected: expect.stringContaining('from 0 to 86400'),
        setBy: 'project',
      },
      { option: 'mode', value: '"quick"', expected: 'full, incremental or smart', setBy: 'project' },
      { option: 'max-page', value: '5', expected: 'the name of an option, such as max-pages', setBy: null },
      { option: 'mox', value: '1', expected: expect.stringContaining('the name of an option'), setBy: null },
      {
        option: 'on-change',
        value: '"rm -rf /"',
        expected: expect.stringContaining('only the operator'),
        setBy: 'operator',
      },
      {
        option: 'quiet',
        value: 'true',
        expected: expect.stringContaining('a single command'),
        setBy: 'command',
      },
      {
        option: 'include',
        value: '["("]',
        expected: expect.stringContaining('regular expressions'),
        setBy: 'project',
      },
      {
        option: 'preset',
        value: '["nwes"]',
        expected: expect.stringMatching(/^one or more of /),
        setBy: 'project',
      },
      {
        option: 'auth',
        value: '"***"',
        expected: expect.stringContaining('only the operator'),
        setBy: 'operator',
      },
      {
        option: 'proxy',
        value: expect.stringContaining('***'),
        expected: expect.stringContaining('only the operator'),
        setBy: 'operator',
      },
    ]);
    expect(JSON.stringify(problems)).not.toContain('hush');
  });

  it('says why a pattern cannot be used, once', () => {
    const [{ expected }] = checkSettings({ exclude: '(' }, 'project').problems;
    expect(expected).toMatch(/^regular expressions separated by commas \(not a regular expression: [^.]+\)$/);
  });

  it('lets a project set what the table lets it, and the operator everything', () => {
    for (const name of OPTION_NAMES) {
      const value = OPTIONS[name].default ?? null;
      const refusals = (setBy: 'project' | 'operator') =>
        checkSettings({ [name]: value }, setBy).problems.filter(({ expected }) =>
          expected.startsWith('no value:'),
        );
      expect(refusals('project').length, name).toBe(OPTIONS[name].setBy === 'project' ? 0 : 1);
      expect(refusals('operator'), name).toEqual([]);
    }
  });

  it('goes by the limits of the profile that is asked for', () => {
    expect(checkSettings({ profile: 'terrain', concurrency: 500 }, 'project').problems).toMatchObject([
      { option: 'concurrency', expected: 'a whole number from 1 to 100' },
    ]);
    expect(checkSettings({ concurrency: 500 }, 'project').problems).toEqual([]);
    expect(checkSettings({ profile: 'moon', concurrency: 500 }, 'project').problems).toMatchObject([
      { option: 'profile' },
    ]);
  });
});

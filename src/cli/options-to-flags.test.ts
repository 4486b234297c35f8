import { Command, CommanderError, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config/load-config.ts';
import { SumiError } from '../errors.ts';
import { addOptionFlags, flagsGiven, hyphenateFlags, throwUsageErrors } from './options-to-flags.ts';

function crawlCommand(): Command {
  const command = new Command('crawl').argument('[urls...]').action(() => {});
  return addOptionFlags(command, ['scope', 'politeness', 'fetch', 'page', 'run']);
}

function flagsOf(...args: string[]): Record<string, unknown> {
  return flagsGiven(crawlCommand().parse(args, { from: 'user' }));
}

const errorOf = (...args: string[]) => thrownBy(crawlCommand(), ...args);
const hintOf = (command: Command, ...args: string[]) =>
  (thrownBy(command, command.name(), ...args) as SumiError).hint;

function thrownBy(own: Command, ...args: string[]): unknown {
  const program = new Command('sumi').addCommand(own);
  program.configureOutput({ writeOut: () => {}, writeErr: () => {} });
  for (const command of program.commands) command.configureOutput({ writeOut: () => {}, writeErr: () => {} });
  throwUsageErrors(program);
  try {
    program.parse(args, { from: 'user' });
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('flags', () => {
  it('gives back only what was written, as written', () => {
    expect(flagsOf('https://example.com/')).toEqual({});
    expect(
      flagsOf('--max-pages', '10', '--include', 'a', '--include', 'b,c', '--no-robots', '--fresh'),
    ).toEqual({
      'max-pages': '10',
      include: ['a', 'b,c'],
      robots: false,
      fresh: true,
    });
  });

  it('counts -v and knows -q', () => {
    expect(flagsOf('-vvv', '-q')).toEqual({ verbose: 3, quiet: true });
  });

  it('takes every boolean both ways, the last one winning', () => {
    expect(flagsOf('--no-robots', '--robots', '--no-json')).toEqual({ robots: true, json: false });
  });

  it('takes aliases, which load as their options', async () => {
    const flags = flagsOf('--max-concurrent-pages-open', '7', '--no-respect-robots-txt');
    expect(flags).toEqual({ 'max-concurrent-pages-open': '7', 'respect-robots-txt': false });
    const config = await loadConfig({ env: {}, flags });
    expect(config).toMatchObject({ concurrency: 7, robots: false });
    expect(config.sources.robots.from).toBe('flag --no-respect-robots-txt');
  });

  it('shows in help each option once, in the form that changes something, and no alias', () => {
    const help = crawlCommand().helpInformation();
    expect(help).toContain('--no-robots');
    expect(help).not.toMatch(/ --robots /);
    expect(help).toContain('--max-pages <N>');
    expect(help).toContain('--resolve <NAME=ADDRESS[:PORT]>');
    expect(help).toContain('Politeness and retries:');
    expect(help).not.toContain('max-concurrent-pages-open');
  });

  it('adds single options by name', () => {
    const help = addOptionFlags(new Command('pages'), ['db', 'format']).helpInformation();
    expect(help).toContain('--db <FILE>');
    expect(help).toContain('--format <table|json|jsonl|csv>');
    expect(help).not.toContain('--delay');
  });
});

describe('hyphenateFlags', () => {
  it('changes names, not values, and nothing behind --', () => {
    expect(hyphenateFlags(['crawl', '--max_pages', 'a_b', '--user_agent=a_b', '--', '--x_y'])).toEqual([
      'crawl',
      '--max-pages',
      'a_b',
      '--user-agent=a_b',
      '--',
      '--x_y',
    ]);
  });

  it('changes no value that begins like a flag, such as a comment in SQL', () => {
    const sql = '-- all_pages\nSELECT content_type FROM pages';
    expect(hyphenateFlags(['sql', '-c', sql])).toEqual(['sql', '-c', sql]);
  });
});

describe('throwUsageErrors', () => {
  it('names the nearest flag for an unknown one', () => {
    const error = errorOf('crawl', '--max-page', '3') as SumiError;
    expect(error).toBeInstanceOf(SumiError);
    expect(error).toMatchObject({ code: 'unknown-option', exitCode: 2 });
    expect(error.message).toContain('--max-page (command sumi crawl)');
    expect(error.hint).toContain('--max-pages;');
  });

  it('names the nearest flag even where help leaves it out, and a shown one where two are as near', () => {
    const error = errorOf('crawl', '--max-concurrent-page-open', '3') as SumiError;
    expect(error.hint).toContain('--max-concurrent-pages-open;');
    const shown = errorOf('crawl', '--no-robot') as SumiError;
    expect(shown.hint).toContain('--no-robots;');
  });

  it('names the format for a flag of its name, where the command has no such flag', () => {
    const listing = (own?: Option) => {
      const command = new Command('list').action(() => {});
      if (own === undefined) addOptionFlags(command, ['format', 'db']);
      else command.addOption(own);
      return hintOf(command, '--json');
    };
    expect(listing()).toContain('Try --format json;');
    expect(listing(new Option('--format <F>').choices(['text', 'json']))).toContain('--format json;');
    expect(listing(new Option('--format <F>').choices(['text', 'csv']))).not.toContain('--format json;');
  });

  it('says of a flag that only other commands take that they do', () => {
    const command = addOptionFlags(new Command('list'), ['http2', 'db']).action(() => {});
    const error = thrownBy(command, 'list', '--allow-http') as SumiError;
    expect(error).toMatchObject({ code: 'other-option', exitCode: 2 });
    expect(error.message).toBe(
      'The option --allow-http belongs to other commands; sumi list does not accept it.',
    );
    expect((thrownBy(command, 'list', '--no-robots') as SumiError).code).toBe('other-option');
    expect((thrownBy(command, 'list', '--alow-http') as SumiError).code).toBe('unknown-option');
  });

  it('names the nearest command for an unknown one', () => {
    expect(errorOf('crwal')).toMatchObject({
      code: 'unknown-command',
      exitCode: 2,
      details: { nearest: 'crawl' },
    });
  });

  it('makes any other misuse a usage error', () => {
    const error = errorOf('crawl', '--max-pages') as SumiError;
    expect(error).toMatchObject({ code: 'usage', exitCode: 2 });
    expect(error.message).toContain('--max-pages <N>');
    expect(error.hint).toContain('sumi crawl --help');
  });

  it('passes on that help was shown, with exit code 0 when asked for and 2 when not', () => {
    expect(errorOf('crawl', '--help')).toMatchObject({ exitCode: 0 });
    expect(errorOf('crawl', '--help')).toBeInstanceOf(CommanderError);
    expect(errorOf()).toMatchObject({ exitCode: 2, code: 'commander.help' });
  });
});

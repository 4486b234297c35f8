import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { NARROW_HELP } from './narrow-help.ts';

const LONG = '--profile <site|terrain|sql|conservative|balanced|aggressive>';

function helpOf(columns: number): string[] {
  const command = new Command('crawl').configureHelp({ ...NARROW_HELP, helpWidth: columns });
  command.option(
    LONG,
    'Named set of defaults, of which there are several for sites and some for maps of the web.',
  );
  command.option(
    '--delay <SECONDS>',
    'Least time between two request starts of one host, whatever its robots.txt says.',
  );
  return command.helpInformation().split('\n');
}

describe('help on narrow terminals', () => {
  it.each([60, 80, 100])('keeps within %i columns', (columns) => {
    const lines = helpOf(columns);
    for (const line of lines.filter((line) => !line.includes(LONG)))
      expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines).toContain(`  ${LONG}`);
  });

  it('has flags and their text side by side where both fit', () => {
    const delay = helpOf(80).find((line) => line.includes('--delay'))!;
    expect(delay).toMatch(/^ {2}--delay <SECONDS> +Least time between/);
    expect(helpOf(200).some((line) => line.startsWith(`  ${LONG}  Named set`))).toBe(true);
  });
});

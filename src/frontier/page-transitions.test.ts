import { describe, expect, it } from 'vitest';
import { PAGE_STATES, type PageState } from './page-state.ts';
import { checkTransition, isAllowed, type PageEvent } from './page-transitions.ts';

const STATES = Object.keys(PAGE_STATES) as PageState[];

function targets(event: PageEvent, from: PageState): PageState[] {
  return STATES.filter((to) => isAllowed(event, PAGE_STATES[from], PAGE_STATES[to]));
}

function sources(event: PageEvent): PageState[] {
  return STATES.filter((from) => targets(event, from).length > 0);
}

describe('the table of transitions', () => {
  it('has the arrows of specification 004 section 4.2', () => {
    expect(targets('found', 'Discovered')).toEqual(
      expect.arrayContaining(['Blacklisted', 'Stubbed', 'Queued', 'DepthExceeded']),
    );
    expect(targets('claimed', 'Queued')).toEqual(['Fetching']);
    expect(targets('closed', 'Queued')).toEqual(expect.arrayContaining(['RequestLimitHit', 'RateLimited']));
    expect(targets('settled', 'Fetching')).toEqual(
      expect.arrayContaining([
        'DeadLink',
        'Unreachable',
        'RateLimited',
        'Failed',
        'Processed',
        'ContentMismatch',
      ]),
    );
  });

  it('lets nothing but a claim make a page Fetching', () => {
    const events: PageEvent[] = ['found', 'settled', 'closed', 'reopened', 'reconsidered', 'restored'];
    for (const event of events)
      for (const from of STATES) expect(targets(event, from), `${event} ${from}`).not.toContain('Fetching');
  });

  it('gives an answer only to a page that is being fetched, but for what a list gives back', () => {
    expect(sources('settled')).toEqual(['Fetching']);
    const all: PageEvent[] = ['found', 'claimed', 'closed', 'reopened', 'reconsidered'];
    for (const event of all)
      for (const from of STATES) expect(targets(event, from), `${event} ${from}`).not.toContain('Processed');
    expect(sources('restored')).toEqual(['Blacklisted', 'Stubbed']);
  });

  it('never opens what was asked but by a new run or a changed configuration', () => {
    expect(sources('reopened')).toEqual(['Discovered', 'DepthExceeded', 'Skipped']);
    expect(targets('reconsidered', 'Processed')).toContain('Queued');
    expect(targets('reconsidered', 'Fetching')).toEqual([]);
  });

  it('throws a programming error for a move that it does not name', () => {
    expect(() => checkTransition('settled', PAGE_STATES.Queued, PAGE_STATES.Processed)).toThrow(
      'no page may go from Queued to Processed by being settled',
    );
    expect(() => checkTransition('closed', PAGE_STATES.Processed, PAGE_STATES.RateLimited)).toThrow(Error);
    expect(() => checkTransition('settled', PAGE_STATES.Fetching, PAGE_STATES.Blacklisted)).toThrow(Error);
    expect(() => checkTransition('settled', PAGE_STATES.Fetching, PAGE_STATES.Processed)).not.toThrow();
  });
});

import { describe, expect, it } from 'vitest';
import { type HostAnswer, HostRequests, type RequestClass } from './host-requests.ts';

function useQueue() {
  const queue = new HostRequests();
  const answers: [string, HostAnswer][] = [];
  const requestOf = (url: string, ofClass: RequestClass, isGuess = false) => ({
    ...{ url, class: ofClass, isGuess, maxBytes: 1 },
    done: (answer: HostAnswer) => void answers.push([url, answer]),
  });
  const add = (...given: Parameters<typeof requestOf>) => queue.add(requestOf(...given));
  const urls = () => {
    const taken: string[] = [];
    for (let next = queue.take(); next !== undefined; next = queue.take()) taken.push(next.url);
    return taken;
  };
  return { queue, answers, add, requestOf, urls };
}

describe('the requests of a host that are for no page', () => {
  it('go by class, and in a class by arrival: robots.txt first', () => {
    const { queue, add, urls } = useQueue();
    add('/guess', 'between-pages');
    add('/given', 'before-pages');
    add('/robots.txt', 'robots');
    add('/second', 'before-pages');
    expect(queue).toMatchObject({ isEmpty: false, hasVital: true, isBeforePages: true });
    expect(urls()).toEqual(['/robots.txt', '/given', '/second', '/guess']);
    expect(queue).toMatchObject({ isEmpty: true, hasVital: false, isBeforePages: false });
  });

  it('that were not sent are the next of their class', () => {
    const { queue, add, requestOf, urls } = useQueue();
    add('/a', 'before-pages');
    add('/b', 'between-pages');
    add('/robots.txt', 'robots');
    queue.putBack(requestOf('/back', 'before-pages'));
    expect(urls()).toEqual(['/robots.txt', '/back', '/a', '/b']);
  });

  it('are given up by what is asked of them, and the others stay in their order', () => {
    const { queue, answers, add, urls } = useQueue();
    add('/guess', 'between-pages', true);
    add('/index', 'between-pages');
    add('/guess2', 'between-pages', true);
    queue.answer({ refused: 'no' }, ({ isGuess }) => isGuess === true);
    expect(answers).toEqual([
      ['/guess', { refused: 'no' }],
      ['/guess2', { refused: 'no' }],
    ]);
    expect(queue.isBeforePages).toBe(false);
    expect(urls()).toEqual(['/index']);
  });
});

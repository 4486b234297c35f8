// What a user sees while a crawl waits, without a terminal: the line every five seconds.
import { afterEach, expect, it } from 'vitest';
import { type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { makeFolder, startSumi } from './run-sumi.ts';

let web: FakeWeb | null = null;
const folder = makeFolder();
afterEach(async () => {
  await web?.close();
  folder.remove();
});

it('says for what it waits, and how long', async () => {
  web = await startFakeWeb({ robots: misbehaviours.robotsCrawlDelay(50), pages: { '/': 'home' } });
  const running = startSumi(['crawl', web.url('/'), '--db', folder.file('sumi.db')]);
  await running.said('; waiting for Crawl-delay 50 s of 127.0.0.1, next request in ');
  running.child.kill('SIGINT');
  expect((await running.finished).code).toBe(3);
});

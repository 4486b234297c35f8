/** The schedule and the webhooks of a project over HTTP. */
import { expect, it } from 'vitest';
import { useBench } from '../crawls/crawl-site.ts';
import { useService } from './start-serving.ts';
import { useReceivers } from './webhook-receiver.ts';

const start = useService();
const bench = useBench();
const newReceiver = useReceivers();
const SITE = { pages: { '/': '<title>home</title>' } };

it('a schedule is set whole, with the ETag that was seen, and begun at once', async () => {
  const web = await bench.web(SITE);
  const service = await start();
  const id = await service.project('shop', web.origin, { delay_seconds: 0 });
  const path = `projects/${id}/schedule`;
  const before = await service.get(path);
  expect(before.body).toMatchObject({ enabled: false, kind: 'daily', version: 0, next_runs: [] });
  const etag = before.headers.get('etag')!;
  const put = (body: object, ifMatch: string) =>
    service.ask('PUT', path, { body, headers: { 'if-match': ifMatch } });
  const weekly = { kind: 'weekly', day_of_week: 1, time: '04:30', timezone: 'Europe/Berlin' };
  const set = await put(weekly, etag);
  expect(set).toMatchObject({
    status: 200,
    body: { ...weekly, enabled: true, significant: { new_pages: 5 } },
  });
  expect(set.body.next_runs).toHaveLength(5);
  expect(await put(weekly, etag)).toMatchObject({ status: 412, body: { code: 'precondition-failed' } });
  expect((await service.get(`projects/${id}`)).body.next_run_at).toBe(set.body.next_runs[0]);
  const wrong = await service.ask('PUT', path, {
    body: { kind: 'monthly', time: '25:00', timezone: 'Mars', day_of_week: 1 },
  });
  expect(wrong.status).toBe(400);
  expect(wrong.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    ...['/day_of_week', '/day_of_month', '/time', '/timezone'],
  ]);
  expect((await service.ask('PUT', path, { body: { kind: 'cron', cron: '* * *' } })).status).toBe(400);
  expect(
    (await service.ask('PUT', path, { body: { kind: 'daily', tme: '1' } })).body.errors[0],
  ).toMatchObject({
    pointer: '/tme',
  });
  const begun = await service.post(`${path}/run-now`);
  expect(begun).toMatchObject({ status: 202, body: { project_id: id } });
  await service.until(id, ({ status }) => status === 'completed');
  expect((await service.get('projects/nothing/schedule')).status).toBe(404);
});

it('webhooks are made, tested, read, changed and deleted, and nothing shows their path', async () => {
  const [web, receiver] = [await bench.web(SITE), await newReceiver()];
  const service = await start();
  const id = await service.project('shop', web.origin, { delay_seconds: 0 });
  const path = `projects/${id}/webhooks`;
  const made = await service.post(path, { url: receiver.url, events: ['crawl.started', 'crawl.completed'] });
  expect(made).toMatchObject({ status: 201, body: { url: new URL(receiver.url).origin } });
  expect(made.body.secret.length).toBeGreaterThan(30);
  const one = `${path}/${made.body.id}`;
  expect(made.headers.get('location')).toBe(`/api/v1/${one}`);
  expect(await service.post(`${one}/test`)).toMatchObject({ status: 200, body: { state: 'delivered' } });
  await service.crawl(id);
  await receiver.count(3);
  const first = await service.get(`${one}/deliveries?limit=1`);
  const second = await service.get(`${one}/deliveries?limit=2&cursor=${first.body.next_cursor}`);
  expect([...first.body.items, ...second.body.items].map(({ event }) => event)).toEqual([
    ...['crawl.completed', 'crawl.started', 'test'],
  ]);
  const again = await service.post(`${one}/deliveries/${second.body.items[0].id}/redeliver`);
  expect(again.status).toBe(202);
  await receiver.count(4);
  expect(receiver.received[3].text).toBe(receiver.received[1].text);
  const got = await service.get(one);
  const tag = got.headers.get('etag')!;
  const headers = { 'if-match': tag };
  expect((await service.patch(one, { enabled: false }, { headers })).body).toMatchObject({ enabled: false });
  expect((await service.patch(one, { enabled: true }, { headers })).status).toBe(412);
  const listed = await service.get(path);
  expect(listed.body.items).toHaveLength(1);
  expect(JSON.stringify([got.body, listed.body, again.body])).not.toMatch(/pass-word|secret/);
  expect(service.log.join('\n')).not.toContain('pass-word');
  const guarded = await service.post(path, { url: 'http://10.1.2.3/x', events: ['crawl.failed'] });
  expect(guarded).toMatchObject({ status: 422, body: { code: 'egress-refused' } });
  const wrong = [
    { url: 'ftp://example.com/', events: ['crawl.failed'] },
    { url: receiver.url, events: [] },
    { url: receiver.url, events: ['nothing'] },
    { url: receiver.url, events: ['crawl.failed'], secret: 'short' },
    { url: receiver.url, events: ['crawl.failed'], more: 1 },
  ];
  for (const body of wrong) expect((await service.post(path, body)).status).toBe(400);
  expect((await service.get(`${one}/deliveries?cursor=%00`)).status).toBe(400);
  expect((await service.get(`${one}/deliveries?limit=0`)).status).toBe(400);
  expect((await service.post(`${one}/deliveries/nothing/redeliver`)).status).toBe(404);
  expect((await service.ask('DELETE', one)).status).toBe(204);
  expect((await service.get(one)).status).toBe(404);
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store-port.ts';
import {
  changeProject,
  createProject,
  goOnPurging,
  purgeProject,
  removeProject,
  restoreProject,
} from './keep-projects.ts';

let store: Store;
const clock = new FakeClock();
beforeEach(async () => {
  store = await openStore({
    address: ':memory:',
    clock,
    onFailure(error) {
      throw error;
    },
  });
});
afterEach(() => store.close());

const kept = async (uid: string) => (await store.projects.keptProject(uid))!;
const make = (name: string) =>
  createProject(store, { name, websiteUrl: 'https://a.test/', settings: { 'max-pages': 7, delay: null } });

describe('projects of programs', () => {
  it('keep the settings that were given, as crawls read them', async () => {
    const uid = await make('a');
    expect(await store.projects.settings('a')).toBe('{"max-pages":7}');
    await changeProject(store, uid, { settings: { 'max-depth': 3, 'max-pages': null } });
    expect(await store.projects.settings('a')).toBe('{"max-depth":3}');
    await changeProject(store, uid, { websiteUrl: null });
    expect(await kept(uid)).toMatchObject({ name: 'a', websiteUrl: null, settings: '{"max-depth":3}' });
    await changeProject(store, uid, { settings: { 'max-depth': null } });
    expect(await store.projects.settings('a')).toBeNull();
  });

  it('lose no change when several make one at once', async () => {
    const uid = await make('a');
    const changes = [{ delay: 2 }, { 'max-depth': 3 }, { robots: false }, { 'per-host': 1 }];
    await Promise.all(changes.map((settings) => changeProject(store, uid, { settings })));
    expect(JSON.parse((await kept(uid)).settings!)).toEqual({
      ...{ delay: 2, 'max-depth': 3, 'max-pages': 7, 'per-host': 1, robots: false },
    });
  });

  it('are changed only as the caller has seen them, when the caller says so', async () => {
    const uid = await make('a');
    const { updatedAt } = await kept(uid);
    const next = await changeProject(store, uid, { settings: { delay: 2 }, ifUpdatedAt: updatedAt });
    expect(next).toBeGreaterThan(updatedAt);
    const late = changeProject(store, uid, { settings: { delay: 3 }, ifUpdatedAt: updatedAt });
    await expect(late).rejects.toMatchObject({ code: 'project-changed' });
    await expect(changeProject(store, 'none', {})).rejects.toMatchObject({ code: 'project-unknown' });
  });

  it('are deleted, restored and purged, with what is kept of them elsewhere', async () => {
    const uid = await make('a');
    await removeProject(store, uid, clock);
    expect(await kept(uid)).toMatchObject({ deletedAt: clock.now() });
    await restoreProject(store, uid);
    expect(await kept(uid)).toMatchObject({ deletedAt: null });
    const forgotten: string[] = [];
    const { done } = await purgeProject(store, uid, { forget: async (one) => void forgotten.push(one) });
    expect(await store.projects.keptProject(uid)).toBeNull();
    await done;
    expect(new Set(forgotten)).toEqual(new Set([uid]));
    expect(await store.projects.hiddenProjects()).toEqual([]);
  });

  it('that were being purged when the program ended are gone after the next start', async () => {
    const uid = await make('a');
    await make('b');
    await store.projects.hideProject(uid);
    const forgotten: string[] = [];
    await goOnPurging(store, { forget: async (one) => void forgotten.push(one) });
    expect(new Set(forgotten)).toEqual(new Set([uid]));
    expect(await store.projects.hiddenProjects()).toEqual([]);
    expect(await store.projects.settings('b')).toBe('{"max-pages":7}');
  });
});

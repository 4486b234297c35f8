import { describe, expect, it } from 'vitest';
import { holdsSecrets, isSharedStore, isStoreAddress, storeLabel } from './store-address.ts';

describe('the address of a shared store', () => {
  it.each([
    'postgresql://localhost',
    'postgres://sumi:p%40ss%2F1@db.example.com:6432/my%20crawl?sslmode=require',
    'postgres://a:5432,b:5433/crawl',
    'postgres://u@[::1]:5432/crawl',
    'POSTGRES://host/crawl',
    'postgres://u:@host/',
    'postgres:///crawl?host=/var/run/postgresql',
    'postgres://u@%2Fvar%2Frun%2Fpostgresql/crawl',
  ])('takes %s', (text) => {
    expect(isStoreAddress(text)).toBe(true);
  });

  it.each([
    'postgres://',
    'postgres:///crawl',
    'postgres:///crawl?host=',
    'postgres://u:p@/crawl',
    'postgres://u:p@:5432/crawl',
    'postgres://u:p/w@host/crawl',
    'postgres://u:p@w@host/crawl',
    'postgres://u:100%@host/crawl',
    'postgres://host:99999/crawl',
    'postgres://host:port/crawl',
    'postgres://a,,b/crawl',
    'postgres:host/crawl',
    'mysql://host/crawl',
    'sumi.db',
    '',
  ])('refuses %s', (text) => {
    expect(isStoreAddress(text)).toBe(false);
  });

  it.each([
    ['postgres://sumi:secret@host:5432/crawl', 'postgres://sumi@host:5432/crawl'],
    ['postgres://:secret@host/crawl', 'postgres://host/crawl'],
    ['postgres://host/crawl?password=secret', 'postgres://host/crawl'],
    ['postgres://sumi:sec/ret@host/crawl', 'postgres://sumi@host/crawl'],
    ['postgres://sumi:sec@ret?x#@host/crawl', 'postgres://sumi@host/crawl'],
    ['postgres://sumi@host/crawl', 'postgres://sumi@host/crawl'],
  ])('%s is shown as %s', (address, label) => {
    expect(storeLabel(address)).toBe(label);
    expect(holdsSecrets(address)).toBe(address !== label);
  });

  it('leaves the path of a file as it is', () => {
    for (const path of ['./sumi.db', '/data/a:b@c.db', 'postgres.db']) {
      expect(isSharedStore(path)).toBe(false);
      expect(storeLabel(path)).toBe(path);
      expect(holdsSecrets(path)).toBe(false);
    }
  });
});

import type { lookup } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../primitives/public-address.ts';
import { createAddressGuard } from './allowed-address.ts';

describe('an address', () => {
  it.each(['8.8.8.8', '93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fc00::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '2001:db8::1',
    'ff02::1',
    'no address',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

/** A name server that knows one answer. */
const answering = (...addresses: string[]) =>
  ((_: string, __: object, callback: (error: null, found: object[]) => void) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )) as unknown as typeof lookup;

function resolve(guard: ReturnType<typeof createAddressGuard>, host: string): Promise<unknown> {
  return new Promise((done) => {
    guard.lookup(host, { all: true }, (error, found) => done(error?.message ?? found));
  });
}

describe('webhooks', () => {
  it('go by https to any public host', () => {
    const guard = createAddressGuard([]);
    expect(guard.refuse(new URL('https://hooks.example.com/x'))).toBeNull();
    expect(guard.refuse(new URL('http://hooks.example.com/x'))).toEqual({
      refused: 'http:// is not allowed to hooks.example.com',
    });
    expect(guard.refuse(new URL('https://127.0.0.1/x'))?.refused).toContain('no public address');
    expect(guard.refuse(new URL('https://[::1]/x'))?.refused).toContain('no public address');
    // Another way to write 127.0.0.1, which a URL takes for it.
    expect(guard.refuse(new URL('https://2130706433/x'))?.refused).toContain('no public address');
  });

  it('go anywhere else only where the host is named', async () => {
    const guard = createAddressGuard(['127.0.0.1', 'Hooks.internal'], answering('10.0.0.7'));
    expect(guard.refuse(new URL('http://127.0.0.1:8080/x'))).toBeNull();
    expect(guard.refuse(new URL('http://hooks.internal/x'))).toBeNull();
    expect(await resolve(guard, 'hooks.internal')).toEqual([{ address: '10.0.0.7', family: 4 }]);
  });

  it('are not led to a private address by a name', async () => {
    const guard = createAddressGuard([], answering('10.0.0.7', '::1'));
    expect(await resolve(guard, 'evil.example.com')).toBe(
      'evil.example.com is 10.0.0.7, ::1, no public address',
    );
    const mixed = createAddressGuard([], answering('10.0.0.7', '8.8.8.8'));
    expect(await resolve(mixed, 'evil.example.com')).toEqual([{ address: '8.8.8.8', family: 4 }]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bareAddress, isPublicAddress, reachedAddress } from './public-address.ts';

describe('an address', () => {
  it.each([
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::FFFF:0a00:0001', '10.0.0.1'],
    ['0:0:0:0:0:ffff:127.0.0.1', '127.0.0.1'],
    ['::ffff:0:0', '0.0.0.0'],
    ['64:ff9b::10.0.0.1', '10.0.0.1'],
    ['64:ff9b::', '0.0.0.0'],
    ['0064:ff9b:0:0:0:0:7f00:1', '127.0.0.1'],
    ['[::ffff:8.8.8.8]', '8.8.8.8'],
    ['::ffff:1.2.3.4%eth0', '1.2.3.4'],
    ['10.0.0.1', '10.0.0.1'],
  ])('%s ends at %s', (address, reached) => {
    expect(reachedAddress(address)).toBe(reached);
  });

  it.each(['::1', '2606:2800::1', '2002:a00:1::', '2001:0:a00:1::', '64:ff9b:1::a00:1', '::10.0.0.1'])(
    '%s ends where it says, and at nothing inside of it',
    (address) => {
      expect(reachedAddress(address)).toBe(address);
    },
  );

  it.each([
    '168.63.129.16',
    '::10.0.0.1',
    '64:ff9b:1::8.8.8.8',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2002:808:808::1',
    'fec0::1',
    '5f00::1',
    '100::1',
    'fd00:ec2::254',
    'fe80::1%eth0',
    '3fff::1',
    '',
    'localhost',
    '1.2.3',
    '01.2.3.4',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(bareAddress(address))).toBe(false);
  });

  it('that carries another is as public as that one, in any case of letters', () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(fc.tuple(byte, byte, byte, byte), fc.boolean(), (bytes, isMapped) => {
        const plain = bytes.join('.');
        const carried = isMapped ? `::FFFF:${plain}` : `64:FF9B::${plain}`;
        expect(reachedAddress(carried)).toBe(plain);
        expect(isPublicAddress(reachedAddress(carried))).toBe(isPublicAddress(plain));
      }),
      { seed: 23, numRuns: 300 },
    );
  });
});

import { describe, expect, it } from 'vitest';
import { readAllowedTarget } from './allowed-target.ts';

describe('what is allowed', () => {
  it.each([
    ['wiki.example.internal', { name: 'wiki.example.internal' }],
    [' Wiki.Example. ', { name: 'wiki.example' }],
    ['intranet', { name: 'intranet' }],
    ['bücher.example', { name: 'xn--bcher-kva.example' }],
    ['10.0.0.5', { network: '10.0.0.5', bits: 32, family: 'ipv4' }],
    ['10.0.0.0/8', { network: '10.0.0.0', bits: 8, family: 'ipv4' }],
    ['0.0.0.0/0', { network: '0.0.0.0', bits: 0, family: 'ipv4' }],
    ['fd00::/8', { network: 'fd00::', bits: 8, family: 'ipv6' }],
    ['::1', { network: '::1', bits: 128, family: 'ipv6' }],
    ['[::1]', { network: '::1', bits: 128, family: 'ipv6' }],
    ['[fd00::]/8', { network: 'fd00::', bits: 8, family: 'ipv6' }],
  ])('%s is read', (text, read) => {
    expect(readAllowedTarget(text, 'flag --egress-allow')).toEqual(read);
  });

  it.each([
    ['', 'it is empty'],
    ['https://wiki.example/', 'it is a URL; expected only its host'],
    ['wiki.example/x', '"wiki.example" is no address; a network is written as 10.0.0.0/8'],
    ['10.0.0.0/33', 'expected a number from 0 to 32 after the slash'],
    ['10.0.0.0/', 'expected a number from 0 to 32 after the slash'],
    ['10.0.0.0/08', 'expected a number from 0 to 32 after the slash'],
    ['10.0.0.0/8/8', 'expected a number from 0 to 32 after the slash'],
    ['fd00::/129', 'expected a number from 0 to 128 after the slash'],
    ['300.0.0.0/8', '"300.0.0.0" is no address; a network is written as 10.0.0.0/8'],
    ['wiki.example:8080', 'it has a port; a host is allowed with all its ports'],
    ['[::1]:8080', 'it has a port; a host is allowed with all its ports'],
    ['*.example', 'an asterisk has no meaning here; expected a whole host name'],
    ['me@wiki.example', 'it is no host name and no address'],
    ['two words', 'it is no host name and no address'],
    ['10.0.0.256', 'it is no host name and no address'],
    ['fe80::1%eth0', 'an address is allowed without its zone'],
    ['127.1', 'it is another spelling of 127.0.0.1; expected that one'],
    ['0x7f000001', 'it is another spelling of 127.0.0.1; expected that one'],
    ['010.0.0.1', 'it is another spelling of 8.0.0.1; expected that one'],
  ])('"%s" is refused with the reason', (text, reason) => {
    expect(() => readAllowedTarget(text, 'flag --egress-allow')).toThrow(
      expect.objectContaining({
        code: 'egress-allow-malformed',
        exitCode: 2,
        message: `"${text}" cannot be allowed as a target of the service (flag --egress-allow): ${reason}.`,
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { loadConfig } from '../load-config.ts';

describe('egress-allow', () => {
  it('takes names, addresses and networks, from the operator', async () => {
    const given = 'wiki.example.internal, 10.0.0.5,fd00::/8';
    const { egressAllow } = await loadConfig({ env: { SUMI_EGRESS_ALLOW: given } });
    expect(egressAllow).toEqual(['wiki.example.internal', '10.0.0.5', 'fd00::/8']);
  });

  it('says what is wrong with an entry, and where it was written', async () => {
    const load = loadConfig({ env: {}, flags: { 'egress-allow': ['10.0.0.5', 'wiki.example:80'] } });
    await expect(load).rejects.toMatchObject({
      code: 'egress-allow-malformed',
      exitCode: 2,
      message:
        '"wiki.example:80" cannot be allowed as a target of the service (flag --egress-allow): it has a port; a host is allowed with all its ports.',
    });
  });
});

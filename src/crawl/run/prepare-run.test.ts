import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load-config.ts';
import { createNormalizer } from '../../url/normalize.ts';
import { projectOf } from './prepare-run.ts';

const normalizer = createNormalizer({ preset: 'standard' });
const urls = (hosts: string[]) => hosts.map((host) => normalizer.normalize(`https://${host}/`)!);

describe('the name of a project that was given none', () => {
  it('is the sorted start hosts, each once', async () => {
    const config = await loadConfig({ env: {} });
    expect(projectOf(config, urls(['b.test', 'a.test', 'b.test']), 0)).toBe('a.test b.test');
  });

  it('stays short for a thousand hosts, and is another one for other hosts', async () => {
    const config = await loadConfig({ env: {} });
    const hosts = Array.from({ length: 1000 }, (_, i) => `host-${String(i).padStart(4, '0')}.test`);
    const name = projectOf(config, urls(hosts), 0);
    expect(name.length).toBeLessThan(600);
    expect(name).toContain('host-0000.test host-0001.test host-0002.test and others, 1000 hosts');
    expect(projectOf(config, urls(hosts.toReversed()), 0)).toBe(name);
    expect(projectOf(config, urls([...hosts.slice(1), 'other.test']), 0)).not.toBe(name);
  });
});

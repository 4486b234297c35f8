import { afterEach, describe, expect, it, vi } from 'vitest';
import { OPTION_NAMES } from '../config/option-table.ts';
import { configCommand } from './config.ts';

async function run(...args: string[]): Promise<string> {
  let printed = '';
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
  try {
    await configCommand().parseAsync(args, { from: 'user' });
  } finally {
    write.mockRestore();
  }
  return printed;
}

describe('sumi config', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('prints every option with its value and source', async () => {
    vi.stubEnv('SUMI_MAX_DEPTH', '4');
    const printed = await run('--delay', '2s', '--proxy', 'http://me:hush@proxy:1');
    for (const name of OPTION_NAMES) expect(printed).toMatch(new RegExp(`^  ${name} +\\S`, 'm'));
    expect(printed).toMatch(/^ {2}delay +2 +flag --delay$/m);
    expect(printed).toMatch(/^ {2}max-depth +4 +env SUMI_MAX_DEPTH$/m);
    expect(printed).toMatch(/^ {2}on-429 +"backoff" +profile site$/m);
    expect(printed).toMatch(/^User-Agent +SumiRipple\//m);
    expect(printed).not.toContain('hush');
  });

  it('prints JSON for programs, passwords masked', async () => {
    const printed = await run(
      '--format',
      'json',
      '--profile',
      'terrain',
      '--proxy',
      'http://me:hush@proxy:1',
    );
    const { profile, options, config_hash } = JSON.parse(printed);
    expect(profile).toBe('terrain');
    expect(options['head-first']).toEqual({ value: true, from: 'profile terrain' });
    expect(options.proxy.value).toBe('http://me:***@proxy:1');
    expect(config_hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('never prints the password of a store', async () => {
    vi.stubEnv('SUMI_STORE', 'postgres://sumi:hush@host/crawl?sslpassword=hush');
    for (const format of ['table', 'json']) {
      const printed = await run('--format', format);
      expect(printed).toContain('postgres://sumi:***@host/crawl?sslpassword=***');
      expect(printed).not.toContain('hush');
    }
  });

  it('never prints a secret that is the whole value, nor the passwords of a list', async () => {
    vi.stubEnv('SUMI_WEBHOOK_SECRET', 'hush-hush');
    for (const format of ['table', 'json']) {
      const printed = await run('--format', format, '--webhook', 'https://me:hush@hooks.example.com/x');
      expect(printed).toContain('https://me:***@hooks.example.com/x');
      expect(printed).not.toContain('hush');
    }
  });

  it('refuses formats it does not have', async () => {
    await expect(run('--format', 'csv')).rejects.toMatchObject({ code: 'bad-value' });
  });
});

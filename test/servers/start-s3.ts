// A real S3 server for tests: Ceph's radosgw over one in-memory OSD. It checks signatures and preconditions, pages
// listings and takes multipart uploads. Promises: its files lie in a folder of their own, its ports are free ones, and
// whatever happens to the process that started it, the server ends with it. Starting takes some seconds: a whole run of
// the tests shares one server (shared-s3.ts).
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from './install-packages.ts';

const execute = promisify(execFile);

/** Buckets are also addressed by names below this one; it resolves nowhere, so tests look it up themselves. */
export const S3_DOMAIN = 's3.sumi.test';

export interface S3Access {
  endpoint: string;
  accessKey: string;
  secretKey: string;
  /** The configuration by which `radosgw-admin` finds the server. */
  configFile: string;
}

export interface S3Server extends S3Access {
  stop(): Promise<void>;
}

/** Runs the server's own administration: users, keys, what is stored. Answers what it printed. */
export async function administer({ configFile }: S3Access, ...args: string[]): Promise<string> {
  const { stdout } = await execute('radosgw-admin', ['-c', configFile, ...args], { timeout: 60_000 });
  return stdout;
}

export async function startS3(): Promise<S3Server> {
  await installPrograms();
  const folder = mkdtempSync(join(tmpdir(), 'sumi-s3-'));
  const running: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(running.splice(0).map(end));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return { ...(await launchIn(folder, running)), stop };
  } catch (error) {
    const logs = ['mon.a', 'osd.0', 'client.rgw'].map((name) => tailOf(join(folder, 'log', `${name}.log`)));
    await stop();
    throw new Error(`radosgw did not start:\n${logs.join('\n')}`, { cause: error });
  }
}

async function installPrograms(): Promise<void> {
  const programs = ['radosgw', 'radosgw-admin', 'ceph-mon', 'ceph-osd', 'ceph', 'monmaptool'];
  const found = await execute('sh', ['-c', `command -v ${programs.join(' && command -v ')}`]).catch(
    () => null,
  );
  if (found === null) installPackages(['radosgw', 'ceph-mon', 'ceph-osd', 'ceph-common']);
}

async function launchIn(folder: string, running: ChildProcess[]): Promise<S3Access> {
  const [v2, v1, web] = await freePorts(3);
  const [cluster, osd] = [randomUUID(), randomUUID()];
  const addresses = `[v2:127.0.0.1:${v2},v1:127.0.0.1:${v1}]`;
  const configFile = join(folder, 'ceph.conf');
  const keyring = join(folder, 'keyring');
  for (const name of ['mon', 'osd0', 'run', 'log']) mkdirSync(join(folder, name));
  writeFileSync(configFile, configuration(folder, cluster, addresses, web));
  const run = (program: string, ...args: string[]) => execute(program, args, { timeout: 60_000 });
  const serve = (program: string, ...args: string[]) => {
    // Killed together with this process, however that ends; all they know is in memory.
    const all = ['--pdeathsig', 'KILL', program, '-c', configFile, ...args, '-f'];
    running.push(spawn('setpriv', all, { stdio: 'ignore' }));
  };
  const addKey = (name: string, ...caps: string[]) =>
    run(
      'ceph-authtool',
      keyring,
      '--gen-key',
      '-n',
      name,
      ...caps.flatMap((cap) => ['--cap', ...cap.split('=')]),
    );
  await run(
    'ceph-authtool',
    '--create-keyring',
    keyring,
    '--gen-key',
    '-n',
    'mon.',
    '--cap',
    'mon',
    'allow *',
  );
  await addKey('client.admin', 'mon=allow *', 'osd=allow *');
  await addKey('osd.0', 'mon=allow profile osd', 'osd=allow *');
  await addKey('client.rgw', 'mon=allow rw', 'osd=allow rwx');
  await run('monmaptool', '--create', '--fsid', cluster, '--addv', 'a', addresses, join(folder, 'monmap'));
  await run(
    'ceph-mon',
    '-c',
    configFile,
    '--mkfs',
    '-i',
    'a',
    '--monmap',
    join(folder, 'monmap'),
    '--keyring',
    keyring,
  );
  serve('ceph-mon', '-i', 'a');
  const ceph = (...args: string[]) => run('ceph', '-c', configFile, '--connect-timeout', '20', ...args);
  await ceph('osd', 'new', osd);
  await run('ceph-osd', '-c', configFile, '-i', '0', '--mkfs', '--osd-uuid', osd);
  serve('ceph-osd', '-i', '0');
  await run('sh', '-c', `until ceph -c '${configFile}' osd stat | grep -q '1 up'; do sleep .3; done`);
  serve('radosgw', '-n', 'client.rgw');
  await run('bash', '-c', `until (exec 3<>/dev/tcp/127.0.0.1/${web}) 2>/dev/null; do sleep .3; done`);
  const access = {
    endpoint: `http://127.0.0.1:${web}`,
    accessKey: 'crawlkey',
    secretKey: 'crawlsecret',
    configFile,
  };
  await administer(
    access,
    'user',
    'create',
    '--uid=crawl',
    '--display-name=crawl',
    '--access-key=crawlkey',
    '--secret-key=crawlsecret',
  );
  return access;
}

function configuration(folder: string, cluster: string, addresses: string, web: number): string {
  return [
    '[global]',
    `fsid=${cluster}`,
    `mon host=${addresses}`,
    // Without any authentication radosgw does not start.
    'auth cluster required=cephx',
    'auth service required=cephx',
    'auth client required=cephx',
    `run dir=${folder}/run`,
    `admin socket=${folder}/run/$cluster-$name.$pid.asok`,
    `log file=${folder}/log/$name.log`,
    `pid file=${folder}/run/$name.pid`,
    'osd pool default size=1',
    'osd pool default min size=1',
    'osd pool default pg num=8',
    'osd pool default pgp num=8',
    'osd crush chooseleaf type=0',
    'mon allow pool size one=true',
    'mon data avail crit=1',
    'osd objectstore=memstore',
    'memstore device bytes=2147483648',
    'public addr=127.0.0.1',
    'cluster addr=127.0.0.1',
    `keyring=${folder}/keyring`,
    '[mon.a]',
    `mon data=${folder}/mon`,
    '[osd.0]',
    `osd data=${folder}/osd0`,
    '[client.rgw]',
    `rgw dns name=${S3_DOMAIN}`,
    `rgw frontends=beast endpoint=127.0.0.1:${web}`,
    '',
  ].join('\n');
}

/** Held all at once, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

function tailOf(file: string): string {
  try {
    return `${file}:\n${readFileSync(file, 'utf8').split('\n').slice(-20).join('\n')}`;
  } catch {
    return `${file}: not written`;
  }
}

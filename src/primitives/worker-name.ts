/** The name under which a worker leases hosts: machine, process, and a mark that no other worker of the process has. */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

export function newWorkerName(): string {
  return `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`;
}

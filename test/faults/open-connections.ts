// The TCP connections of a process, as its kernel lists them: by their ends the web's log tells whose request it was.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Each as `own port → address`, which is how the other end would name it. */
export function openConnections(pid: number): Set<string> {
  const sockets = new Set<string>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
    if (inode !== undefined) sockets.add(inode);
  }
  const found = new Set<string>();
  for (const line of readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1)) {
    const [, own, other, , , , , , , inode] = line.trim().split(/\s+/);
    if (sockets.has(inode)) found.add(connectionName(portOf(own), addressOf(other)));
  }
  return found;
}

export const connectionName = (port: number, address: string): string => `${port} → ${address}`;

const portOf = (end: string) => Number.parseInt(end.split(':')[1], 16);
/** The kernel writes the four bytes as the machine holds them: backwards. */
const addressOf = (end: string) => Buffer.from(end.split(':')[0], 'hex').reverse().join('.');

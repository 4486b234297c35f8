/**
 * The form of a shared store's address, and how it is shown. Pure text, no connection: anything that may hold a
 * password passes through `storeLabel` before it is printed, stored or thrown.
 */

const SCHEME = /^postgres(?:ql)?:\/\//i;
/** Login, hosts (several are tried in order), database, parameters. Other characters in a login must be escaped. */
const SHAPE = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^@/?#]*))?(?:\?([^#]*))?$/i;
const HOST = /^(?:\[[0-9a-f:.]+\]|[^\s:,[\]]+)(?::(\d{1,5}))?$/i;

/** A file path has no scheme. */
export function isSharedStore(address: string): boolean {
  return SCHEME.test(address);
}

export function isStoreAddress(text: string): boolean {
  const [, login = '', hosts = '', database = '', query = ''] = SHAPE.exec(text) ?? [];
  // Without a host there may be a socket.
  const isSomewhere = hosts === '' ? /(^|&)host=[^&]/.test(query) : hosts.split(',').every(isHost);
  return isSomewhere && isDecodable(login + database);
}

function isHost(text: string): boolean {
  const found = HOST.exec(text);
  const port = Number(found?.[1] ?? 5432);
  return found !== null && port > 0 && port < 65_536;
}

/** A single % is no escape. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** For messages and output: the path of a file as it is, an address without password and parameters. */
export function storeLabel(address: string): string {
  const scheme = SCHEME.exec(address)?.[0];
  if (scheme === undefined) return address;
  const rest = address.slice(scheme.length);
  // Up to the last @, however wrongly the password is escaped: a label shows too little rather than too much.
  const at = rest.lastIndexOf('@');
  const user = rest.slice(0, Math.max(0, at)).split(/[:/?#]/, 1)[0];
  const [place] = rest.slice(at + 1).split(/[?#]/, 1);
  return `${scheme}${user === '' ? '' : `${user}@`}${place}`;
}

/** True if the label leaves out something that is needed to open the store. */
export function holdsSecrets(address: string): boolean {
  return storeLabel(address) !== address;
}

import { splitSite } from '../primitives/split-site.ts';

export interface HostFilter {
  /** Hosts of which every port is meant. */
  names: string[];
  /** Sites, as URLs have them. */
  sites: string[];
  /** Of names and sites: the hosts that pages are kept under. */
  hosts: string[];
}

/**
 * What `--host` names: NAME is every port of the host, NAME:PORT that port only. The port that belongs to http or https
 * stands in few URLs: NAME:443 means the pages of NAME whose URLs have no port as well.
 */
export function readHosts(wanted: readonly string[]): HostFilter {
  const filter: HostFilter = { names: [], sites: [], hosts: [] };
  for (const host of wanted) {
    const { name, port } = splitSite(host);
    filter.hosts.push(name);
    if (port === null) filter.names.push(host);
    else filter.sites.push(host, ...(port === '80' || port === '443' ? [name] : []));
  }
  return filter;
}

import { isIP } from 'node:net';
import { AdminRefusal } from '../../actions/answer.js';

/** Names that no website can have: those of a cluster, a container network and this machine. */
const INSIDE = /^(?:[a-z0-9_-]+|(?:[a-z0-9_-]+\.)+(?:svc|local|internal))$/;
const LONGEST = 253;

/**
 * Returns a check that throws AdminRefusal 421 for an unknown Host. Otherwise a website whose name resolves to this
 * listener (DNS rebinding) could use the session of a browser, or read what needs no token.
 * @param hosts accepted names, in addition to IP addresses and `INSIDE`
 */
export function createHostCheck(hosts: readonly string[]): (field: string | undefined) => void {
  const known = new Set(hosts.map(plain));
  return (field) => {
    // Only in HTTP/1.0, which no browser sends.
    if (field === undefined) return;
    const name = plain(field);
    if (isIP(name) !== 0 || INSIDE.test(name) || known.has(name)) return;
    const shown = JSON.stringify(name.slice(0, LONGEST));
    throw new AdminRefusal(
      421,
      'unknown_host',
      `The admin listener does not know the host name ${shown}. Use its IP address, or add the name to ` +
        'admin.hosts in gateway.yaml and restart the gateway.',
    );
  };
}

/** Returns the name in lower case, without port, brackets and trailing dot. */
function plain(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

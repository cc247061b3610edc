import { isIP } from 'node:net';
import { AdminRefusal } from '../../actions/answer.js';

/** Names that no page of the internet can have: those of a cluster, a container network and this machine. */
const INSIDE = /^(?:[a-z0-9_-]+|(?:[a-z0-9_-]+\.)+(?:svc|local|internal))$/;
const LONGEST = 253;

/**
 * Throws AdminRefusal 421 for a name that this listener is not known by. A page whose own name is made to lead here
 * (DNS rebinding) could otherwise ask in the name of a browser that has the token, or read what needs none.
 * @param hosts names that are let in beside addresses, names of one label and those of inside, in lower case
 */
export function createHostCheck(hosts: readonly string[]): (field: string | undefined) => void {
  const known = new Set(hosts.map(plain));
  return (field) => {
    // HTTP/1.0: no browser sends it.
    if (field === undefined) return;
    const name = plain(field);
    if (isIP(name) !== 0 || INSIDE.test(name) || known.has(name)) return;
    const shown = JSON.stringify(name.slice(0, LONGEST));
    throw new AdminRefusal(
      421,
      'unknown_host',
      `The admin listener is not known by the name ${shown}. Ask it by its address, or add the name to ` +
        'admin.hosts in ' +
        'gateway.yaml and start the gateway again.',
    );
  };
}

/** Without port, brackets, and the dot at the end. */
function plain(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

/**
 * REDIS_URL, in these forms (`rediss` for TLS in each of them; user, password and port are optional):
 *
 *     redis://user:password@host:6379/0
 *     redis+sentinel://user:password@host1:26379,host2:26379/mymaster
 *     redis+cluster://user:password@host1:6379,host2:6379
 *
 * User and password are those of the Redis servers; characters like `@` and `/` in them are percent-encoded. The number
 * after a single host is the database. IPv6 addresses are in brackets.
 */
export interface Address {
  readonly host: string;
  readonly port: number;
}
interface Access {
  readonly username: string | null;
  readonly password: string | null;
  readonly tls: boolean;
}
export type RedisTarget = Access &
  (
    | { readonly kind: 'single'; readonly address: Address; readonly database: number }
    | { readonly kind: 'sentinel'; readonly sentinels: readonly Address[]; readonly master: string }
    | { readonly kind: 'cluster'; readonly nodes: readonly Address[] }
  );

const FORM =
  /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<access>[^/]*)@)?(?<hosts>[^/?#@]+)(?:\/(?<rest>[^/?#]*))?$/;
const HOST = /^(?<host>\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(?<port>\d{1,5}))?$/;

/**
 * Reads a REDIS_URL.
 * @throws Error that says what is wrong and never repeats the URL, which may hold a password
 */
export function parseRedisUrl(url: string): RedisTarget {
  const groups = FORM.exec(url)?.groups;
  if (groups === undefined) {
    throw invalidUrl(
      'must look like redis://user:password@host:6379/0, redis+sentinel://host1:26379,host2:26379/mymaster or ' +
        'redis+cluster://host1:6379,host2:6379 (percent-encode characters like @ and / in the password)',
    );
  }
  const access = { ...readAccess(groups['access'] ?? ''), tls: groups['tls'] === 's' };
  const kind = groups['kind'];
  const addresses = (groups['hosts'] ?? '')
    .split(',')
    .map((text) => readAddress(text, kind === 'sentinel' ? 26379 : 6379));
  const rest = groups['rest'] ?? '';
  if (kind === 'sentinel') {
    if (rest === '')
      throw invalidUrl('with redis+sentinel must end with the name of the master, as in …:26379/mymaster');
    return { kind, ...access, sentinels: addresses, master: decode(rest) };
  }
  if (kind === 'cluster') {
    if (rest !== '') throw invalidUrl('with redis+cluster must end after the hosts: a Cluster has no databases');
    return { kind, ...access, nodes: addresses };
  }
  const [address, second] = addresses;
  if (address === undefined || second !== undefined)
    throw invalidUrl('with several hosts must begin with redis+cluster:// or redis+sentinel://');
  if (!/^\d{0,5}$/.test(rest)) throw invalidUrl('must end with the number of a database or nothing, as in …:6379/0');
  return { kind: 'single', ...access, address, database: Number(rest) };
}

/** Returns why `parseRedisUrl` rejects the URL, without the leading `REDIS_URL`; null if it is valid. */
export function redisUrlProblem(url: string): string | null {
  try {
    parseRedisUrl(url);
    return null;
  } catch (error) {
    return (error as Error).message.replace(/^REDIS_URL /, '');
  }
}

function readAccess(text: string): { username: string | null; password: string | null } {
  const colon = text.indexOf(':');
  const username = decode(colon === -1 ? text : text.slice(0, colon));
  const password = colon === -1 ? '' : decode(text.slice(colon + 1));
  if (username !== '' && password === '')
    throw invalidUrl(
      'names a user without a password; write redis://user:password@host, or redis://:password@host for the ' +
        'default user',
    );
  return { username: username === '' ? null : username, password: password === '' ? null : password };
}

function readAddress(text: string, defaultPort: number): Address {
  const groups = HOST.exec(text)?.groups;
  const host = groups?.['host'];
  const port = Number(groups?.['port'] ?? defaultPort);
  if (host === undefined || port < 1 || port > 65_535)
    throw invalidUrl('has a host that is not written as name:port (IPv6 in brackets)');
  return { host: host.startsWith('[') ? host.slice(1, -1) : host, port };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidUrl('has a % that is not followed by two hex digits; write a percent sign as %25');
  }
}

function invalidUrl(what: string): Error {
  return new Error(`REDIS_URL ${what}`);
}

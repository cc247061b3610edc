import { normalPath } from '../../edge/target.js';
import { isMapping, mapping } from './references.js';

const ORIGIN = /^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i;
/** `localhost:8080/api`, `api.example.com/v1`: for RFC 3986 a scheme or a relative path, but never meant as one. */
const HOST_ALONE = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*:\d{1,5}|(?:[a-z0-9-]+\.)+[a-z]{2,})(?:[/?#]|$)/i;

export function isHostAlone(url: unknown): boolean {
  return typeof url === 'string' && HOST_ALONE.test(url);
}

/** Returns the paths of servers, without a trailing slash. Variables are replaced by their defaults. */
export function serverPaths(servers: unknown): readonly string[] {
  if (!Array.isArray(servers)) return [];
  return servers.flatMap((server: unknown) => {
    if (!isMapping(server) || typeof server['url'] !== 'string') return [];
    const variables = mapping(server['variables']);
    const url = server['url'].replace(/\{([^{}]*)\}/g, (_all, name: string) => defaultOf(variables, name));
    const path = isHostAlone(url) ? url.replace(/^[^/?#]*/, '') : url.replace(ORIGIN, '');
    if (!URL.canParse(path, 'http://host')) return [];
    const { pathname } = new URL(path, 'http://host');
    return [(normalPath(pathname) ?? pathname).replace(/(?<!\/)\/+$/, '')];
  });
}

function defaultOf(variables: Readonly<Record<string, unknown>>, name: string): string {
  const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
  const value = isMapping(variable) ? variable['default'] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

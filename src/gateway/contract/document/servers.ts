import { normalPath } from '../../edge/target.js';
import { isMapping } from './references.js';

/** The paths that servers have, without a slash at their end. Variables stand for their defaults. */
export function serverPaths(servers: unknown): readonly string[] {
  if (!Array.isArray(servers)) return [];
  return servers.flatMap((server: unknown) => {
    if (!isMapping(server) || typeof server['url'] !== 'string') return [];
    const variables = isMapping(server['variables']) ? server['variables'] : {};
    const url = server['url'].replace(/\{([^{}]*)\}/g, (_all, name: string) => defaultOf(variables, name));
    const path = url.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i, '');
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

import type { AdmissionEngine } from '../admission/port.js';
import type { Body } from '../keys/fields.js';
import type { KeyRegistry } from '../keys/registry.js';
import type { Readiness } from '../health.js';
import type { Log } from '../../shared/log.js';
import type { ReportRange } from '../usage/range.js';
import type { Format } from '../usage/write.js';
import type { Answer } from './answer.js';
import type { Query } from './query.js';

export interface AdminParts {
  readonly registry: KeyRegistry;
  readonly engine: AdmissionEngine;
  /** The operators' bearer token. */
  readonly token: string;
  /** Tests only: ms of a clock that never steps back, for wrong tokens. */
  readonly elapsedMs?: () => number;
  /** Prometheus text format. */
  readonly metrics: () => Promise<string>;
  readonly ready: () => Readiness;
  readonly log: Log;
  /** Makes a report over all keys elsewhere than in this process; left out, it is made here. */
  readonly report?: (format: Format, range: ReportRange) => AsyncGenerator<Buffer, void>;
}

/** One request as its handler sees it. */
export interface Call {
  readonly parts: AdminParts;
  /** What stands at `{id}` in the path, empty where there is none. */
  readonly id: string;
  readonly query: Query;
  /** `{}` where the route reads the bytes itself. */
  readonly body: Body;
  /** The body's bytes, for a route that streams; already read for any other. */
  readonly bytes: AsyncIterable<Buffer>;
  /** Who asks, for the keys' history. */
  readonly actor: string;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With at most one `{id}`. */
  readonly path: string;
  /** True: asked without the token (probes and scrapes). */
  readonly open?: boolean;
  /** True: the body is as long as it wants to be, and is read by the route. */
  readonly streams?: boolean;
  /** True: a browser may ask, with the token as the password of HTTP Basic. For what only reads. */
  readonly browser?: boolean;
  /** The query parameters it knows. */
  readonly query?: readonly string[];
  readonly handle: (call: Call) => Answer | Promise<Answer>;
}

type RouteMatch =
  | { readonly kind: 'route'; readonly route: Route; readonly id: string }
  | { readonly kind: 'method_not_allowed'; readonly allow: string }
  | { readonly kind: 'not_found' };

/** Finds the route for `method` and `path`; HEAD is served as GET. */
export function matchRoute(routes: readonly Route[], method: string, path: string): RouteMatch {
  const onPath = routes.flatMap((route) => {
    const id = idIn(path, route.path);
    return id === null ? [] : [{ kind: 'route' as const, route, id }];
  });
  if (onPath.length === 0) return { kind: 'not_found' };
  const wanted = method === 'HEAD' ? 'GET' : method;
  const match = onPath.find(({ route }) => route.method === wanted);
  if (match !== undefined) return match;
  const exact = onPath.filter(({ route }) => !route.path.includes('{id}'));
  const methods = (exact.length > 0 ? exact : onPath).flatMap(({ route }) =>
    route.method === 'GET' ? ['GET', 'HEAD'] : [route.method],
  );
  return { kind: 'method_not_allowed', allow: methods.join(', ') };
}

/** What `path` has in place of `{id}`; empty when the pattern has none; null when it doesn't fit. */
function idIn(path: string, pattern: string): string | null {
  const [before = '', after] = pattern.split('{id}');
  if (after === undefined) return path === pattern ? '' : null;
  if (!path.startsWith(before) || !path.endsWith(after)) return null;
  const id = path.slice(before.length, path.length - after.length);
  return id === '' || id.includes('/') ? null : id;
}

import { readsAuthorization } from '../refusals/credential-location.js';
import { problemAt, type Layers } from './files/layers.js';
import type { Problem } from './files/problem.js';
import type { GatewayFile } from './schema/gateway.js';

/** Finds settings that are valid but contradict each other. @param toRun false if no gateway will run with them */
export function contradictions(gateway: Layers, file: GatewayFile, toRun: boolean): readonly Problem[] {
  return [
    ...sharedPort(gateway, file),
    ...nobodyTrusted(gateway, file),
    ...keysPassedOn(gateway, file),
    ...(toRun ? engineUnsaid(gateway, file) : []),
  ];
}

/** Two listeners on one port: the second would fail to start. Port 0 is any free one. */
function sharedPort(gateway: Layers, { listen, admin }: GatewayFile): Problem[] {
  if (listen.port === 0 || listen.port !== admin.port) return [];
  const said = [
    ['admin', 'port'],
    ['listen', 'port'],
  ].filter((path) => gateway.decides(path) !== undefined);
  // The variable is more likely the mistake than the line in the file, which has the default.
  const path = said.find((one) => gateway.location(one, 'value').line === 0) ?? said[0] ?? ['listen', 'port'];
  const both = `the public listener and that of operators are both on port ${listen.port}`;
  return [problemAt(gateway, path, `${both}; give them different ports`)];
}

/** PROXY headers are accepted only from trusted proxies: without any, every connection would be closed. */
function nobodyTrusted(gateway: Layers, { listen, trusted_proxies: trusted }: GatewayFile): Problem[] {
  if (!listen.proxy_protocol || trusted.length > 0) return [];
  const message = 'no connection could be served: name the addresses of your load balancers in trusted_proxies';
  return [problemAt(gateway, ['listen', 'proxy_protocol'], message)];
}

/** If this gateway's keys are in Authorization, forwarding it would show them to the upstream. */
function keysPassedOn(gateway: Layers, { upstreams, credentials }: GatewayFile): Problem[] {
  if (!credentials.some(readsAuthorization)) return [];
  return Object.entries(upstreams).flatMap(([name, { authorization }]) => {
    if (authorization !== 'client') return [];
    const message =
      'the gateway reads its own keys from Authorization, so that the upstream would see them; write none, or a ' +
      'secret of the upstream, or leave Authorization out of credentials';
    return [problemAt(gateway, ['upstreams', name, 'authorization'], message)];
  });
}

/** In production the embedded store must be chosen explicitly, not result from a missing variable. */
function engineUnsaid(gateway: Layers, { environment, store }: GatewayFile): Problem[] {
  const report = (key: 'engine' | 'redis', message: string): Problem[] => [problemAt(gateway, ['store', key], message)];
  if (store.redis !== undefined && store.engine === 'embedded')
    return report(
      'engine',
      'embedded and an address of Redis (REDIS_URL, or store.redis) exclude each other; take one away',
    );
  if (store.redis === undefined && store.engine === 'redis')
    return report('redis', 'missing; store.engine asks for Redis: set REDIS_URL');
  if (store.redis === undefined && store.engine === undefined && environment === 'production')
    return report(
      'redis',
      'missing; set REDIS_URL, or, for a single machine with the store in its data folder, say store: { engine: ' +
        'embedded }',
    );
  return [];
}

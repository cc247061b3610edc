import { AdminRefusal } from '../answer.js';
import { KeyRefused } from '../../accounts/refused.js';
import { required } from '../../accounts/fields.js';
import { AcceptedStore, AcceptStore, Liveness, Ready } from '../openapi/schemas.js';
import { route, type Route } from '../route.js';

/** What orchestrators and Prometheus ask needs no token: the listener is on loopback by default. */
export const SERVICE_ROUTES: readonly Route[] = [
  route('GET /metrics', 'open', "Metrics in Prometheus' text format", {
    gives: ['text/plain'],
    handle: async ({ parts }) => ({ type: 'text/plain; version=0.0.4; charset=utf-8', text: await parts.metrics() }),
  }),
  route('GET /livez', 'open', 'Whether the process runs', {
    gives: Liveness,
    handle: () => ({ json: { alive: true } }),
  }),
  route('GET /readyz', 'open', 'Whether it can serve, part by part; 503 when it cannot', {
    gives: Ready,
    handle: ({ parts }) => {
      const readiness = parts.ready();
      return { json: readiness, ...(readiness.ready ? {} : { status: 503 }) };
    },
  }),
  route('POST /admin/v1/store/accept', 'operator', 'Takes Redis as it is, whatever it has lost', {
    takes: AcceptStore,
    gives: AcceptedStore,
    handle: async ({ parts: { engine, registry, log }, body, actor }) => {
      const { environment } = required(body, AcceptStore.shape);
      const { trust } = engine;
      if (trust === undefined)
        throw new AdminRefusal(404, 'no_shared_store', 'The store is embedded: it is whatever is in its folder.');
      if (environment !== undefined && environment !== registry.environment)
        throw new KeyRefused('invalid', [`environment: this gateway runs "${registry.environment}"`]);
      const accepted = trust.replaced() !== null;
      const id = await trust.accept(environment !== undefined);
      log.warn({ id, accepted, environment, actor }, 'the store was accepted as it is');
      return { json: { id, accepted } };
    },
  }),
];

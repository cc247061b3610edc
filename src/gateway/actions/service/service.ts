import { AdminRefusal } from '../answer.js';
import { KeyRefused } from '../../accounts/refused.js';
import { required } from '../../accounts/fields.js';
import { AcceptedStore, AcceptStore, Liveness, Ready } from '../schemas.js';
import { action, type Action } from '../action.js';

const ACCEPT_HELP = `All gateways that knew the store before follow. Keys, bans and counts that it does not have are
gone: where there is a copy, bring that back instead. Into a store that was restored to an older
state, gateways first write back what they know better: keys that were revoked, rotated, disabled
or banned since.`;

/** Metrics and health need no token, because the listener is on loopback by default. */
export const SERVICE_ACTIONS: readonly Action[] = [
  action('GET /metrics', 'open', "Metrics in Prometheus' text format", {
    gives: ['text/plain'],
    handle: async ({ parts }) => ({ type: 'text/plain; version=0.0.4; charset=utf-8', text: await parts.metrics() }),
  }),
  action('GET /livez', 'open', 'Whether the process runs', {
    gives: Liveness,
    handle: () => ({ json: { alive: true } }),
  }),
  action('GET /readyz', 'open', 'Whether it can serve, part by part; 503 when it cannot', {
    gives: Ready,
    handle: ({ parts }) => {
      const readiness = parts.ready();
      return { json: readiness, ...(readiness.ready ? {} : { status: 503 }) };
    },
  }),
  action('POST /admin/v1/store/accept', 'operator', 'Accept Redis as it is, whatever it has lost', {
    commands: {
      usage: 'store accept',
      example: '',
      prints: {
        text: ({ id, accepted }) =>
          accepted === true
            ? `The store ${String(id)} is accepted as it is.`
            : `The store ${String(id)} has not changed: there was nothing to accept.`,
      },
      help: ACCEPT_HELP,
    },
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

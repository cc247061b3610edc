import { AdminRefusal } from '../answer.js';
import { AcceptedStore, Liveness, Ready } from '../openapi/schemas.js';
import { handler } from '../route.js';

// What orchestrators and Prometheus ask, without the token: the listener is on loopback by default.

export const metrics = handler({
  gives: ['text/plain'],
  handle: async ({ parts }) => ({ type: 'text/plain; version=0.0.4; charset=utf-8', text: await parts.metrics() }),
});

export const live = handler({ gives: Liveness, handle: () => ({ json: { alive: true } }) });

export const ready = handler({
  gives: Ready,
  handle: ({ parts }) => {
    const readiness = parts.ready();
    return { json: readiness, ...(readiness.ready ? {} : { status: 503 }) };
  },
});

export const acceptStore = handler({
  gives: AcceptedStore,
  handle: async ({ parts: { engine, log }, actor }) => {
    const { trust } = engine;
    if (trust === undefined)
      throw new AdminRefusal(404, 'no_shared_store', 'The store is embedded: it is whatever its folder holds.');
    const accepted = trust.replaced() !== null;
    const id = await trust.accept();
    log.warn({ id, accepted, actor }, 'the store was accepted as it is');
    return { json: { id, accepted } };
  },
});
